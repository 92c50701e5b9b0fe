// Generates a Prisma client from a schema into a git-ignored folder. The command comes from npm into .lockstep/prisma-<version>,
// as no user of this package needs it; it downloads nothing, as the client runs without its engines and the tables are made by SQL.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fetchPackage } from './fetch-package.ts'

const VERSION = '7.9.1'

export interface PrismaWish {
  readonly root: string
  /** The schema's text; its generator writes to `output = "./generated/prisma"`. */
  readonly schema: string
  readonly into: string
}

/** The folder with `generated/prisma`, or null when the command cannot be had. */
export async function generatePrisma({ root, schema, into }: PrismaWish): Promise<string | null> {
  const mark = join(into, '.made-of')
  const made = `${VERSION}\n${schema}`
  if (existsSync(mark) && readFileSync(mark, 'utf8') === made) return into
  const command = join('node_modules', 'prisma', 'build', 'index.js')
  const home = await fetchPackage({
    root,
    title: `Prisma's command ${VERSION}`,
    folder: `prisma-${VERSION}`,
    package: `prisma@${VERSION}`,
    proof: command,
  })
  if (home === null) return null
  // Made beside its place and moved there whole, as several tests may ask at once.
  const making = `${into}.${process.pid}`
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making, { recursive: true })
  const file = join(making, 'schema.prisma')
  writeFileSync(file, schema)
  try {
    await promisify(execFile)(process.execPath, [join(home, command), 'generate', '--schema', file], {
      cwd: making,
      // It would fetch an engine that the generated client has no use for.
      env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', PRISMA_HIDE_UPDATE_MESSAGE: '1' },
    })
    writeFileSync(join(making, '.made-of'), made)
    rmSync(into, { recursive: true, force: true })
    renameSync(making, into)
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    if (!existsSync(mark) || readFileSync(mark, 'utf8') !== made) throw error
  }
  return into
}
