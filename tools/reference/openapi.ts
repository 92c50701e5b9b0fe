// docs/reference/openapi.json: the document that the broker serves.
import { ROUTES } from '../../src/broker/http/routes.ts'
import { openApiDocument } from '../../src/broker/openapi/openapi-document.ts'
import type { Tree } from '../source/tree.ts'
import type { Page } from './page.ts'

export function openApiPage(tree: Tree): Page {
  const manifest: unknown = JSON.parse(tree.find((file) => file.path === 'package.json')?.text ?? '{}')
  const version: unknown = Reflect.get(Object(manifest), 'version')
  const document = openApiDocument(ROUTES, typeof version === 'string' ? version : '')
  return { path: 'docs/reference/openapi.json', text: `${JSON.stringify(document, null, 2)}\n` }
}
