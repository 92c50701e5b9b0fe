#!/usr/bin/env node
// The program `lockstep`: runs one command and ends with its status. A reader that closes the pipe early (`| head`) ends it
// quietly.

import { runCommand } from './run-command.ts'

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}

process.exitCode = await runCommand(process.argv.slice(2), process.env)
