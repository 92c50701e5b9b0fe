// Fetches and builds the examples in other languages before the tests start, where no test's time limit runs: a first build of the
// Rust client takes minutes on a slow machine. Tells what cannot run here; with LOCKSTEP_REQUIRE=all that is a failure.
import { packageRoot } from '../src/db/sql-files.ts'
import { LANGUAGE_NAMES, prepareLanguage } from './tests/prepare-language.ts'

for (const language of LANGUAGE_NAMES) {
  const absent = await prepareLanguage(packageRoot(), language)
  if (absent === null) continue
  console.log(`the example in ${absent} is missing`)
  if (process.env['LOCKSTEP_REQUIRE'] === 'all') process.exitCode = 1
}
