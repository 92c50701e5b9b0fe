// `npm start`: from a bare checkout to a running broker and an order workflow that checks itself. Everything after the build
// is the program examples/order-workflow/main.ts, which gets the arguments that stand after `--`.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { build, checkNode, fail, install, ROOT, Stop } from './prepare.mjs'

async function main() {
  checkNode()
  await install()
  await build()
  const program = join(ROOT, '.build', 'examples', 'order-workflow', 'main.js')
  if (!existsSync(program)) throw new Stop(`${program} was not built; remove .build and run this again.`)
  const child = spawn(process.execPath, ['--enable-source-maps', program, ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  // Handed on, because it may have been sent to this process alone. Ctrl-C reaches the program a second time that way, which
  // it knows to be the same one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  const code = await new Promise((done) => child.once('close', (status, signal) => done(status ?? (signal ? 1 : 0))))
  process.exitCode = code
}

main().catch(fail)
