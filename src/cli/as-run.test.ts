// Command lines to copy must run as they stand, however this program was started.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fault, run } from '../testing/run-program.ts'
import { programWords, shellWord } from './as-run.ts'

describe('lines to copy', () => {
  it('name the program as it was run', async () => {
    const bare = await run(['queue', 'lst', '--json'], { bare: true })
    assert.match(String(fault(bare).hint), /^node main\.js queue list/)
    assert.match(
      (await run(['--help'], { bare: true })).out,
      /usage: node main\.js <command>[^]*Begin with: node main\.js dev/,
    )
    assert.match((await run(['kv', 'put', '--help'], { bare: true })).out, /\n {2}node main\.js kv put orders/)
    assert.match(String(fault(await run(['queue', 'lst', '--json'])).hint), /^lockstep queue list/)
  })

  it('use npx where the shell would not find it', () => {
    const script = '/srv/project/node_modules/.bin/lockstep'
    const words = (env: NodeJS.ProcessEnv): string => programWords(script, env, '/srv/project')
    assert.equal(words({ PATH: '/usr/bin' }), 'npx lockstep')
    assert.equal(words({ PATH: '/usr/bin:/srv/project/node_modules/.bin' }), 'lockstep')
    assert.equal(words({ PATH: '/srv/project/node_modules/.bin', npm_command: 'exec' }), 'npx lockstep')
    assert.equal(programWords('/opt/x y/other.js', {}, '/srv', '/opt/x y/main.js'), "node '/opt/x y/main.js'")
    assert.equal(programWords('/srv/start.js', {}, '/srv', '/srv/dist/cli/main.js'), 'node dist/cli/main.js')
  })

  it('quote what a shell would not read as one word', () => {
    for (const plain of ['orders', 'a.b/c-1', '50%']) assert.equal(shellWord(plain), plain)
    assert.equal(shellWord('a b'), "'a b'")
    assert.equal(shellWord(`it's`), `'it'\\''s'`)
    assert.equal(shellWord(''), "''")
  })
})
