import { request } from 'undici';
import type { TestApp } from '../harness/app.ts';
import { resolved } from '../harness/resolved.ts';

/** Part of JSON Schema from which samples are generated. */
export interface Schema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  minItems?: number;
  minLength?: number;
  minimum?: number;
  format?: string;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
}

interface Response {
  content: Record<string, { schema: Schema }>;
}

/** One operation of the OpenAPI document, references resolved. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  description: string;
  pathParameters: string[];
  queryParameters: Parameter[];
  /** The names of those that it takes. */
  headers: string[];
  body: Schema | null;
  /** Example of the request body in the document. */
  bodyExample: unknown;
  bodyRequired: boolean;
  /** Responses by status. */
  responses: Record<string, Response>;
  /** The success is a stream of events without end. */
  isTail: boolean;
  /** Whether an API key is accepted: the operation is neither public nor limited to user sessions. */
  needsKey: boolean;
}

interface RequestContent {
  schema: Schema;
  examples: Record<string, { value: unknown }>;
}

interface RawOperation {
  operationId: string;
  description: string;
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Record<string, RequestContent> };
  responses: Record<string, Response>;
  security?: object[];
}

interface Document {
  paths: Record<string, Record<string, RawOperation>>;
}

function isDocument(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && 'paths' in value && 'openapi' in value;
}

/** The document as the program serves it. */
export async function readOperations(app: TestApp): Promise<Operation[]> {
  const { body } = await request(`${app.url}/openapi.json`);
  const document = resolved(Object(await body.json()));
  if (!isDocument(document)) throw new Error('/openapi.json is no OpenAPI document');
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => toOperation(path, method, raw)),
  );
}

function toOperation(path: string, method: string, raw: RawOperation): Operation {
  const { parameters } = raw;
  const success = Object.entries(raw.responses).find(([status]) => status.startsWith('2'))?.[1];
  return {
    id: raw.operationId,
    method: method.toUpperCase(),
    path,
    description: raw.description,
    headers: parameters.filter((one) => one.in === 'header').map(({ name }) => name),
    pathParameters: parameters.filter((one) => one.in === 'path').map(({ name }) => name),
    queryParameters: parameters.filter((one) => one.in === 'query'),
    body: raw.requestBody?.content['application/json']?.schema ?? null,
    bodyExample: Object.values(raw.requestBody?.content['application/json']?.examples ?? {})[0]?.value,
    bodyRequired: raw.requestBody?.required ?? false,
    responses: raw.responses,
    isTail: success !== undefined && 'text/event-stream' in success.content,
    // The default is that of the document: a key, or a session.
    needsKey:
      raw.security === undefined ||
      (raw.security.every((one) => Object.keys(one).length > 0) &&
        raw.security.some((one) => 'bearer' in one)),
  };
}

/** Returns the path with its parameters filled in. */
export function addressOf(path: string, values: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? 'none'));
}

/** The smallest value that a schema takes. */
export function sampleOf(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf?.[0] !== undefined) return sampleOf(schema.anyOf[0]);
  const [type] = [schema.type].flat();
  switch (type) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sampleOf(schema.properties?.[name] ?? {})]),
      );
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}));
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return false;
    case 'string':
      return schema.format === 'date-time'
        ? '2026-11-20T09:00:00Z'
        : 'a'.repeat(Math.max(1, schema.minLength ?? 1));
    default:
      return null;
  }
}
