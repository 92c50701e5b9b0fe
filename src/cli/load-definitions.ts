// Loads a module of the user's and takes the actions and workflows that it exports: by name, in lists, or in its default
// export. Nothing else of it is touched; a module that cannot be loaded is answered with what to do.
import { existsSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DEFINITION, type Defined } from '../workflow/define/definition.ts'
import { UsageError } from './usage-error.ts'

const TYPED = new Set(['.ts', '.mts', '.cts'])

/** `file` is relative to the working folder. At least one. */
export async function loadDefinitions(file: string, folder: string): Promise<readonly Defined[]> {
  const path = resolve(folder, file)
  if (!existsSync(path)) throw new UsageError(`There is no file ${path}.`)
  const found = new Set<Defined>()
  collect(await load(path, file), found, 0)
  if (found.size === 0) {
    throw new UsageError(
      `${file} exports no action and no workflow.`,
      `export const charge = action({ name: 'charge', … }, …)    # in ${file}`,
    )
  }
  return [...found]
}

async function load(path: string, file: string): Promise<unknown> {
  try {
    const module: unknown = await import(pathToFileURL(path).href)
    return module
  } catch (error) {
    const unknown = error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION'
    if (!unknown || !TYPED.has(extname(path))) {
      // A syntax error does not say where it is.
      const why = error instanceof Error ? (error.stack ?? error.message) : String(error)
      throw Object.assign(new UsageError(`${file} cannot be loaded: ${why}`), { cause: error })
    }
    throw new UsageError(
      `Node ${process.versions.node} does not load TypeScript.`,
      `tsc && lockstep worker --import ${file.replace(/\.([mc]?)ts$/, '.$1js')}    # or a Node that strips types, from 22.18 on`,
    )
  }
}

/** A module's names, and the lists and objects of its default export. */
function collect(value: unknown, found: Set<Defined>, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (isDefined(value)) found.add(value)
  else if (depth < 3) for (const inner of Object.values(value)) collect(inner, found, depth + 1)
}

function isDefined(value: object): value is Defined {
  return DEFINITION in value
}
