// Ends a connection as a dying peer does, with a reset. One that is saying goodbye already is only destroyed: Node's reset of a
// socket in its shutdown fails unseen, closes nothing, and keeps the process spinning for ever in its own end.
import type { Socket } from 'node:net'

export function resetSocket(socket: Socket): void {
  if (socket.writableEnded || socket.connecting) socket.destroy()
  else socket.resetAndDestroy()
}
