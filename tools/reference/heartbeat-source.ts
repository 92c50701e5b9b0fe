// The program of the heartbeat's thread as one text with the driver inside, in base64 so that it is opaque to every check of
// source text. Made by esbuild from src/workflow/worker/heartbeat-main.ts.
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { packageRoot } from '../../src/db/sql-files.ts'
import type { Page } from './page.ts'

export function heartbeatSource(): Page {
  const root = packageRoot()
  const { outputFiles } = buildSync({
    absWorkingDir: root,
    entryPoints: [join(root, 'src/workflow/worker/heartbeat-main.ts')],
    bundle: true,
    minify: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    legalComments: 'none',
    external: ['pg-native'],
  })
  const source = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')
  const text = `// Generated from heartbeat-main.ts by \`npm run generate\`: the program of the heartbeat's thread with the driver inside, in base64.\nexport const HEARTBEAT_SOURCE: string =\n  '${source}'\n`
  return { path: 'src/workflow/worker/heartbeat-source.gen.ts', text }
}
