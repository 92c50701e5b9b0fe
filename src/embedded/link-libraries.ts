// npm packages cannot hold symbolic links, so the package lists them in pg-symlinks.json for its install script to make.
// That script often does not run (--ignore-scripts, npm 12): the missing links are made here, beside the libraries or,
// where that folder is read-only, in a folder of our own. Existing files are never replaced.

import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { basename, delimiter, dirname, join, relative } from 'node:path'
import { embeddedError, reasonOf, systemCode } from './embedded-error.ts'

interface Link {
  readonly source: string
  readonly target: string
}

/** Sees that every link exists. Answers the folder for LD_LIBRARY_PATH when links had to be made elsewhere, else null. */
export function linkLibraries(root: string, home: string): string | null {
  const missing = readLinks(root).filter((link) => !existsSync(link.target))
  const refused = missing.filter((link) => !linkBeside(link))
  if (refused.length === 0) return null

  const folder = join(home, 'lib')
  try {
    mkdirSync(folder, { recursive: true })
    for (const link of refused) linkTo(link.source, join(folder, basename(link.target)))
  } catch (error) {
    throw embeddedError(`The links of the PostgreSQL libraries cannot be made in ${folder}: ${reasonOf(error)}.`)
  }
  // A library looks for its own needs beside the link it was loaded by, so both folders are named.
  return [folder, join(root, 'lib')].join(delimiter)
}

function readLinks(root: string): Link[] {
  const list = join(root, 'pg-symlinks.json')
  if (!existsSync(list)) return []
  const parsed: unknown = JSON.parse(readFileSync(list, 'utf8'))
  if (!Array.isArray(parsed)) throw embeddedError(`${list} is not a list of links.`)
  // Its paths begin at the package, of which root is the folder native/.
  return parsed.filter(isLink).map((link) => ({
    source: join(dirname(root), link.source),
    target: join(dirname(root), link.target),
  }))
}

function isLink(value: unknown): value is Link {
  if (typeof value !== 'object' || value === null) return false
  return 'source' in value && typeof value.source === 'string' && 'target' in value && typeof value.target === 'string'
}

function linkBeside(link: Link): boolean {
  try {
    linkTo(link.source, link.target)
    return true
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(systemCode(error))) return false
    throw embeddedError(`The link ${link.target} cannot be made: ${reasonOf(error)}.`)
  }
}

function linkTo(source: string, target: string): void {
  try {
    symlinkSync(relative(dirname(target), source), target)
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
    if (existsSync(target)) return // another process made it at the same moment
    if (!lstatSync(target).isSymbolicLink()) throw error
    rmSync(target) // it points to nothing: the folder was moved
    symlinkSync(relative(dirname(target), source), target)
  }
}
