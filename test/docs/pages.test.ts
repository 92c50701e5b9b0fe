// The documentation is code: every page's program is compiled with the house's own flags and run against a real database
// and broker, what it says it prints is compared, and what it names exists.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { createBroker, type Broker } from '../../src/broker/index.ts'
import { packageRoot } from '../../src/db/sql-files.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { testServer } from '../../src/testing/test-server.ts'
import { generatePrisma } from '../../tools/tests/generate-prisma.ts'
import { faultOfLine } from './command-lines.ts'
import { blocksOf, linksOf, pathsOf, programOf, promisedLines } from './read-page.ts'

const run = promisify(execFile)
const root = packageRoot()
const built = join(root, '.build', 'docs')
const PAGES = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((path) => `docs/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.md') && !path.startsWith('docs/reference/')),
].toSorted()
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')
const nameOf = (path: string): string => path.replaceAll('/', '-').replace(/\.md$/, '')
/** The one page that needs a generated client brings its schema along. */
const schemas = PAGES.flatMap((path) => blocksOf(textOf(path)).filter((block) => block.language === 'prisma'))
const generated = await generatedClient()
const programs = PAGES.filter((path) => {
  const program = programOf(blocksOf(textOf(path)))
  return program !== '' && (generated !== null || !program.includes('./generated/prisma/'))
})

/** One database for all pages, as a reader has: their names must not clash. */
const laying = lay()

async function lay(): Promise<TestDatabase & { readonly broker: Broker }> {
  const database = await createTestDatabase(null)
  const broker = createBroker({ connectionString: database.connectionString, port: 0 })
  await broker.start()
  return { ...database, broker }
}

after(async () => {
  const { broker, drop } = await laying
  await broker.stop()
  await drop()
})

async function generatedClient(): Promise<string | null> {
  assert.equal(schemas.length, 1)
  const schema = schemas[0]?.text ?? ''
  return generatePrisma({ root, schema, into: join(root, '.lockstep', 'prisma-docs') })
}

test('every link and every path that a page names exists', () => {
  for (const page of PAGES) {
    for (const link of linksOf(textOf(page)))
      assert.ok(existsSync(join(root, dirname(page), link)), `${page} links to ${link}`)
    for (const path of pathsOf(textOf(page))) assert.ok(existsSync(join(root, path)), `${page} names ${path}`)
  }
})

test('every shell line runs a script, a command or a route that there is', () => {
  const manifest: unknown = JSON.parse(textOf('package.json'))
  assert.ok(typeof manifest === 'object' && manifest !== null && 'scripts' in manifest)
  const scripts = Object.keys(Object(manifest.scripts))
  for (const page of PAGES) {
    for (const block of blocksOf(textOf(page)).filter((one) => one.language === 'sh')) {
      for (const [index, line] of block.text.split('\n').entries()) {
        const fault = faultOfLine(line.trim().replace(/\s+#.*$/, ''), scripts)
        assert.equal(fault, null, `${page}:${block.line + index}`)
      }
    }
  }
})

test('every page program compiles with the flags of the house', async () => {
  rmSync(built, { recursive: true, force: true })
  mkdirSync(built, { recursive: true })
  if (generated !== null) cpSync(join(generated, 'generated'), join(built, 'generated'), { recursive: true })
  for (const page of programs)
    writeFileSync(join(built, `${nameOf(page)}.ts`), `${programOf(blocksOf(textOf(page)))}\nexport {}\n`)
  writeFileSync(
    join(built, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: {
        rootDir: '.',
        outDir: '.',
        declaration: false,
        isolatedDeclarations: false,
        noUnusedLocals: false,
      },
      include: ['*.ts'],
      exclude: [],
    }),
  )
  const { stdout } = await run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', built]).catch((error: unknown) => ({
    stdout: typeof error === 'object' && error !== null && 'stdout' in error ? String(error.stdout) : String(error),
  }))
  assert.equal(stdout, '')
})

for (const page of PAGES.filter(
  (path) => programs.includes(path) || blocksOf(textOf(path)).some((one) => one.language === 'sql'),
)) {
  test(`${page}: its statements and its program do what the page says, each time`, async () => {
    const blocks = blocksOf(textOf(page))
    const { connectionString, database, broker } = await laying
    for (const block of blocks.filter((one) => one.language === 'sql')) {
      await assert.doesNotReject(database.pool.query(block.text), `${page}:${block.line}`)
    }
    if (!programs.includes(page)) return
    for (const time of ['first', 'second']) {
      const { stdout } = await run(process.execPath, [join(built, `${nameOf(page)}.js`)], {
        env: {
          PATH: process.env['PATH'] ?? '',
          DATABASE_URL: connectionString,
          LOCKSTEP_URL: broker.address,
          LOCKSTEP_TEST_URL: await testServer(),
        },
        timeout: 60_000,
      })
      assert.deepEqual(
        stdout.split('\n').filter((line) => line !== ''),
        promisedLines(programOf(blocks)),
        `the ${time} run`,
      )
    }
  })
}
