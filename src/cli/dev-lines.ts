// What `lockstep dev` says once it is up. Its lines can be copied as they stand: the other commands find the data in ./.lockstep by
// themselves, and are told of data anywhere else by DATABASE_URL. The password is never printed, only its file.
import { asRun, shellWord } from './as-run.ts'

export interface DevPlace {
  readonly port: number
  readonly passwordFile: string
  /** Whether the other commands find it from this folder. */
  readonly isFound: boolean
}

export function devLines({ port, passwordFile, isFound }: DevPlace): readonly string[] {
  const url = isFound
    ? asRun('  export DATABASE_URL="$(lockstep url --password)"')
    : `  export DATABASE_URL="postgres://postgres:$(cat ${shellWord(passwordFile)})@127.0.0.1:${port}/lockstep"`
  return [
    `its password is in ${passwordFile}; for programs:`,
    url,
    '',
    isFound ? 'In another terminal, in this folder:' : 'In another terminal, with that DATABASE_URL:',
    asRun(`  lockstep queue push hello '{"to":"world"}'`),
    asRun('  lockstep queue pop hello'),
  ]
}
