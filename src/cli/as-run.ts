// Command lines to copy name the program as it was run: `lockstep` where it is installed, `node dist/cli/main.js` in a checkout.
// Only lines that this program writes itself go through here, never data.

import { basename, delimiter, dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What `lockstep` is when no install gave it that name. Other programs of the checkout use the same texts. */
const MAIN = fileURLToPath(new URL('main.js', import.meta.url))

/** The words that start this program in the folder where it runs. */
export function programWords(script: string, env: NodeJS.ProcessEnv, cwd: string, main: string = MAIN): string {
  const name = basename(script)
  if (name === 'lockstep' || name === 'lockstep.cmd') {
    const onPath = (env['PATH'] ?? '')
      .split(delimiter)
      .some((folder) => folder !== '' && resolve(folder) === dirname(script))
    // npx puts its folder on the PATH of this process, not on that of the shell the line will be copied to.
    return onPath && env['npm_command'] !== 'exec' ? 'lockstep' : 'npx lockstep'
  }
  const near = relative(cwd, main)
  return `node ${shellWord(near.startsWith('..') ? main : near)}`
}

/** Each `lockstep` that begins a command line of this text, as this process was run. */
export function asRun(text: string): string {
  const words = programWords(resolve(process.argv[1] ?? 'lockstep'), process.env, process.cwd())
  return words === 'lockstep'
    ? text
    : text.replaceAll(/(^|[\n`(]|\$\(|&& |: {1,2}| {2,})lockstep (?=[a-z<-])/g, `$1${words} `)
}

/** A word that a shell reads as it stands, in quotes where it must be. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
