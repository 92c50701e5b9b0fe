#!/usr/bin/env node
// The program `lockstep`: runs one command and ends with its status. A reader that closes the pipe early (`| head`) ends it
// quietly.

import { boundHeap } from '../broker/bound-heap.ts'

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}

const words = process.argv.slice(2)
// Before all the other modules are loaded: that alone makes V8 take more than a broker needs.
if (words[0] === 'serve' || words[0] === 'dev') boundHeap()
const { runCommand } = await import('./run-command.ts')
process.exitCode = await runCommand(words, process.env)
