// The description of this broker for machines. It is made once, from the same table that serves.
import { openApiDocument } from '../openapi/openapi-document.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

export function openApiRoutes(others: readonly Route[]): readonly Route[] {
  let text: string | null = null
  const handle = ({ parts }: Call): Answer => {
    text ??= JSON.stringify(openApiDocument([...others, own], parts.version))
    return json(text)
  }
  const own: Route = {
    method: 'GET',
    path: '/openapi.json',
    access: 'public',
    rank: 'B',
    changes: false,
    about: 'This broker as an OpenAPI 3.1 document.',
    answers: { 200: '{"openapi":"3.1.0","info":{…},"paths":{…},"components":{…}}' },
    handle,
  }
  return [own]
}
