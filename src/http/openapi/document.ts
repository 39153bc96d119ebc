import { namedSchemas } from '../named-schema.ts';
import { LATEST_VERSION } from '../plugins/version.ts';
import type { Route } from '../route.ts';
import { ErrorResponses } from './errors.ts';
import { type DocumentedEvent, EVENT_PARAMETERS, webhooksOf } from './events.ts';
import { HEADERS, PARAMETERS } from './headers.ts';
import type { Json } from './json.ts';
import { groupOf, Operations } from './operation.ts';
import { DEFAULT_SECURITY, SECURITY_SCHEMES } from './policy.ts';
import { Schemas } from './schemas.ts';
import { tagsOf } from './tags.ts';

const DESCRIPTION = `A creator video business with one API key.

Successful responses are \`{"success": true, "data": …}\`; lists also have \`pagination\`, and \`cursor\` is opaque. Errors are \`{"success": false, "error": {"code", "message", "field"}}\`: base decisions on \`code\`. Clients must ignore unknown fields and accept new enum values in responses.`;

export interface Documented {
  routes: readonly Route[];
  events: readonly DocumentedEvent[];
  /** Absolute URL of the API, including the base path. */
  url: string;
}

/** Builds the OpenAPI 3.1 document from the declarations that also validate and serialize. */
export function openApiDocument({ routes, events, url }: Documented): Json {
  const schemas = new Schemas(namedSchemas());
  const refusals = new ErrorResponses(schemas);
  const operations = new Operations(schemas, refusals);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operations.of(route) };
  }
  const webhooks = webhooksOf(events, schemas);
  const responses = { ...operations.responses, ...refusals.responses };
  const groups = new Set([...routes.map(groupOf), ...(events.length === 0 ? [] : ['webhooks'])]);
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Marquee Partner API',
      version: LATEST_VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url, description: 'This installation.' }],
    security: DEFAULT_SECURITY,
    tags: tagsOf(groups),
    paths,
    webhooks,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: { ...PARAMETERS, ...operations.parameters, ...EVENT_PARAMETERS },
      headers: HEADERS,
      responses,
      schemas: schemas.usedBy(paths, webhooks, responses, '#/components/schemas/AnyEvent'),
    },
  };
  return JSON.parse(JSON.stringify(document));
}
