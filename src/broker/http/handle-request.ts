// The way of a request: find its route, guard it, admit its caller, read its body, run its handler, write one answer. Every fault on this way
// becomes an answer; nothing that a client sends may end the process or leave a request unanswered.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { LockstepError } from '../../protocol/errors.ts'
import type { BrokerParts } from '../parts.ts'
import type { AnswerBytes } from './answer-bytes.ts'
import { admit } from './admit.ts'
import type { Caller } from './admit.ts'
import { guard } from './guard.ts'
import { compileRoutes } from './match-route.ts'
import type { BodyReader } from './read-body.ts'
import { faultAnswer, faultFor, respond } from './respond.ts'
import type { Answer, Call, Route } from './route.ts'

export interface RequestDesk {
  readonly listener: RequestListener
  /** The client reset its connection: it did not read what it was sent, or died. */
  reset(socket: Socket): void
  /** From now on everything but public routes is refused with `draining`. */
  drain(): void
  /** Resolves when no request is in flight. */
  idle(): Promise<void>
}

const EMPTY = Buffer.alloc(0)
/** A large answer is given a minute and a second per this many bytes; who reads slower is cut off. */
const SLOW_READER_BYTES = 64 * 1024
const SLOW_READER_MS = 60_000
/** After a body was refused half-read: time for the client to hear the answer before the connection is cut. */
const LINGER_MS = 1_000
const TOLD_PER_SECOND = 20

export function createRequestDesk(parts: BrokerParts, routes: readonly Route[], bodies: BodyReader): RequestDesk {
  const find = compileRoutes(routes)
  const prefix = `${Date.now().toString(36)}-${process.pid.toString(36)}-`
  let count = 0
  let inFlight = 0
  let draining = false
  let idlers: (() => void)[] = []
  // What a connection was given last: a reset afterwards means that the client never read it.
  const lastGiven = new WeakMap<Socket, () => void>()

  function listener(request: IncomingMessage, response: ServerResponse): void {
    const requestId = prefix + (count++).toString(36)
    const startedAt = performance.now()
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    let label = 'ANY unknown'
    inFlight += 1
    lastGiven.delete(request.socket)
    response.on('close', ended)
    response.on('error', () => {})
    request.on('error', () => {})

    function ended(): void {
      inFlight -= 1
      if (inFlight === 0 && idlers.length > 0) settleIdlers()
    }

    function answer(given: Answer | null): void {
      if (given === null) return
      if (given.undelivered === undefined) send(given)
      // Two turns of the event loop: a farewell that has arrived already is read before a lease is given away for it.
      else setImmediate(() => setImmediate(() => send(given)))
    }

    function send(given: Answer): void {
      const { undelivered } = given
      if (response.closed || response.destroyed || request.socket.destroyed || request.socket.readableEnded) {
        undelivered?.()
        return
      }
      if (undelivered) {
        lastGiven.set(request.socket, undelivered)
        response.on('close', () => response.writableFinished || undelivered())
      }
      if (draining) response.setHeader('connection', 'close')
      occupy(response, respond(response, given, requestId), parts.answers)
      parts.metrics.count(label, given.status, (performance.now() - startedAt) / 1000)
    }

    function fail(error: unknown): void {
      const fault = faultFor(error)
      if (fault.status >= 500) tell(fault, label, requestId)
      answer(faultAnswer(fault))
    }

    function refuseBody(fault: LockstepError): void {
      fail(fault)
      // The rest of the body is read away for a moment: an unread byte would make a close a reset that eats the answer.
      request.resume()
      setTimeout(() => request.complete || request.destroy(), LINGER_MS).unref()
    }

    function run(route: Route, params: Call['params'], sub: string | null, body: Buffer): void {
      const queryText = mark < 0 ? '' : url.slice(mark + 1)
      try {
        const given = route.handle({ parts, request, response, route, requestId, sub, params, queryText, body })
        if (given instanceof Promise) given.then(answer, fail)
        else answer(given)
      } catch (error) {
        fail(error)
      }
    }

    let route: Route
    let params: Call['params']
    try {
      const match = find(request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET'), path)
      if (match === null) {
        answer(noSuchRoute(path))
        return
      }
      if (!('route' in match)) {
        answer(wrongMethod(match))
        return
      }
      ;({ route, params } = match)
      if (request.method === 'HEAD' && route.changes) {
        answer(wrongMethod([route.method]))
        return
      }
      label = `${route.method} ${route.path}`
      if (draining && route.access !== 'public') throw new LockstepError('draining', 'this broker is shutting down')
      guard(request, route, parts.hosts)
      const caller = admit(request, route, parts.auth)
      if (caller instanceof Promise) caller.then(take, turnAway)
      else take(caller)
    } catch (error) {
      turnAway(error)
    }

    function turnAway(error: unknown): void {
      if (hasBody(request)) refuseBody(faultFor(error))
      else fail(error)
    }

    function take({ sub }: Caller): void {
      if (!hasBody(request)) {
        run(route, params, sub, EMPTY)
        return
      }
      // Gone while its token was checked: no more events would come.
      if (request.destroyed) return
      bodies.read(request, response, (fault, body) => {
        if (fault) refuseBody(fault)
        else run(route, params, sub, body)
      })
    }
  }

  function settleIdlers(): void {
    const settled = idlers
    idlers = []
    for (const resolve of settled) resolve()
  }

  // An outage under load must not become a flood of the same line: past the budget of a second, faults are only counted.
  let toldSecond = 0
  let told = 0
  let untold = 0

  function tell(fault: LockstepError, route: string, requestId: string): void {
    const second = Math.floor(performance.now() / 1000)
    if (second !== toldSecond) {
      if (untold > 0) parts.logger.error('further requests failed', { count: untold })
      toldSecond = second
      told = 0
      untold = 0
    }
    if (told >= TOLD_PER_SECOND) {
      untold += 1
      return
    }
    told += 1
    const cause = fault.cause instanceof Error ? fault.cause : fault
    parts.logger.error('request failed', {
      requestId,
      route,
      code: fault.code,
      message: fault.message,
      cause: fault.code === 'internal' ? (cause.stack ?? cause.message) : cause.message,
    })
  }

  return {
    listener,
    drain() {
      draining = true
    },
    reset(socket) {
      lastGiven.get(socket)?.()
      lastGiven.delete(socket)
    },
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise<void>((resolve) => idlers.push(resolve))),
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

const noSuchRoute = (path: string): Answer => ({
  status: 404,
  body: JSON.stringify({ code: 'no_such_route', error: 'not found', path }),
})

const wrongMethod = (methods: readonly string[]): Answer => ({
  status: 405,
  body: JSON.stringify({ code: 'method_not_allowed', error: `this path takes ${methods.join(', ')}` }),
  headers: ['allow', methods.join(', ')],
})

/** Counts the answer until it is read or its connection has ended. */
function occupy(response: ServerResponse, bytes: number, answers: AnswerBytes): void {
  if (bytes === 0) return
  answers.add(bytes)
  const lapse = (): void => void response.destroy()
  const timer =
    bytes < SLOW_READER_BYTES ? null : setTimeout(lapse, SLOW_READER_MS + (bytes / SLOW_READER_BYTES) * 1000)
  response.on('close', () => {
    if (timer) clearTimeout(timer)
    answers.remove(bytes)
  })
}
