// The checks that keep the house in order, in one list. Prints every fault with its place and the way out; exit 1 if any.
// Run after a build: node .build/tools/check.js [name …]
import { fileURLToPath } from 'node:url'
import { checkAny } from './checks/any.ts'
import { checkDependencies } from './checks/dependencies.ts'
import { checkEntries } from './checks/entries.ts'
import { checkErrors } from './checks/errors.ts'
import { checkFresh } from './checks/fresh.ts'
import { checkLayers } from './checks/layers.ts'
import { checkLimits } from './checks/limits.ts'
import { checkMigrations } from './checks/migrations.ts'
import { checkNames } from './checks/names.ts'
import { checkOpenings } from './checks/openings.ts'
import { checkPortable } from './checks/portable.ts'
import { checkSizes } from './checks/sizes.ts'
import { checkSqlFunctions } from './checks/sql-functions.ts'
import { checkSqlHeaders } from './checks/sql-headers.ts'
import { checkSqlHome } from './checks/sql-home.ts'
import { checkSqlKeys } from './checks/sql-keys.ts'
import { checkSqlLocks } from './checks/sql-locks.ts'
import { checkSqlVolatile } from './checks/sql-volatile.ts'
import { checkSqlWords } from './checks/sql-words.ts'
import { checkTests } from './checks/tests.ts'
import { describeFault } from './source/fault.ts'
import type { Check, Fault } from './source/fault.ts'
import { readTree } from './source/tree.ts'
import type { Tree } from './source/tree.ts'

export const CHECKS: Readonly<Record<string, Check>> = {
  layers: checkLayers,
  sizes: checkSizes,
  names: checkNames,
  openings: checkOpenings,
  'sql-home': checkSqlHome,
  'sql-headers': checkSqlHeaders,
  'sql-functions': checkSqlFunctions,
  'sql-words': checkSqlWords,
  'sql-locks': checkSqlLocks,
  'sql-volatile': checkSqlVolatile,
  'sql-keys': checkSqlKeys,
  migrations: checkMigrations,
  dependencies: checkDependencies,
  entries: checkEntries,
  errors: checkErrors,
  limits: checkLimits,
  portable: checkPortable,
  tests: checkTests,
  any: checkAny,
  fresh: checkFresh,
}

/** Runs the named checks (all without a name) and gives what they found. */
export function runChecks(tree: Tree, names: readonly string[] = Object.keys(CHECKS)): readonly Fault[] {
  return names.flatMap((name) => {
    const check = CHECKS[name]
    if (check === undefined)
      throw new Error(`no check is called '${name}'; there are: ${Object.keys(CHECKS).join(', ')}`)
    return check(tree)
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const faults = runChecks(readTree(root), process.argv.length > 2 ? process.argv.slice(2) : undefined)
  for (const fault of faults) console.log(describeFault(fault))
  console.log(
    faults.length === 0 ? `${Object.keys(CHECKS).length} checks: the house is in order` : `${faults.length} faults`,
  )
  process.exitCode = faults.length === 0 ? 0 : 1
}
