import { isDeepStrictEqual } from 'node:util';
import { envelopeSchema } from '../mount.ts';
import { listQuery } from '../pagination.ts';
import { NoBody, type Route } from '../route.ts';
import type { ErrorResponses } from './errors.ts';
import { exampleOf } from './example.ts';
import { successHeaders } from './headers.ts';
import { isJson, type Json, refTo } from './json.ts';
import { describePolicy, securityOf } from './policy.ts';
import type { Schemas } from './schemas.ts';

/** The operations of the document, and the components that they share. */
export class Operations {
  readonly #schemas: Schemas;
  readonly #refusals: ErrorResponses;
  readonly #successes = new Map<string, Json>();
  /** Parameters of every list, by the name of their component. */
  readonly #shared: ReadonlyMap<string, Json>;

  constructor(schemas: Schemas, refusals: ErrorResponses) {
    this.#schemas = schemas;
    this.#refusals = refusals;
    const ofLists = this.#parametersOf(listQuery({}), 'query');
    this.#shared = new Map(ofLists.map((one) => [`List${capitalised(String(one.name))}`, one]));
  }

  of(route: Route): Json {
    const { description } = route;
    return {
      operationId: route.operationId,
      tags: [groupOf(route)],
      summary: route.summary,
      description: [...(description === undefined ? [] : [description]), describePolicy(route)].join('\n\n'),
      ...securityOf(route),
      parameters: this.#parameters(route),
      ...(route.deprecated === undefined ? {} : { deprecated: true }),
      ...(route.body === NoBody && route.upload === undefined ? {} : { requestBody: this.#body(route) }),
      responses: { ...this.#successesOf(route), ...this.#refusals.of(route) },
    };
  }

  get responses(): Record<string, Json> {
    return Object.fromEntries([...this.#successes].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  get parameters(): Record<string, Json> {
    return Object.fromEntries(this.#shared);
  }

  #parameters(route: Route): Json[] {
    return [
      ...this.#parametersOf(route.params, 'path'),
      ...this.#parametersOf(route.query, 'query').map((one) => this.#sharedOr(one)),
      ...['RequestId', 'ApiVersion'].map((name) => refTo('parameters', name)),
      ...(route.idempotent ? [refTo('parameters', 'IdempotencyKey')] : []),
      ...(isTailed(route) ? [refTo('parameters', 'LastEventId')] : []),
    ];
  }

  #parametersOf(schema: object, where: 'path' | 'query'): Json[] {
    const { properties, required } = { properties: {}, required: undefined, ...this.#schemas.of(schema) };
    const needed: unknown[] = Array.isArray(required) ? required : [];
    return Object.entries<unknown>(properties).map(([name, property]) =>
      parameter(name, where, isJson(property) ? property : {}, needed.includes(name)),
    );
  }

  /** A list with its own limits or order declares them inline. */
  #sharedOr(one: Json): Json {
    const name = `List${capitalised(String(one.name))}`;
    return isDeepStrictEqual(this.#shared.get(name), one) ? refTo('parameters', name) : one;
  }

  #body({ body, optionalBody, upload }: Route): Json {
    const example = { value: exampleOf(body, false) };
    const json = { schema: this.#schemas.of(body), examples: { default: example } };
    const form =
      upload === undefined ? {} : { 'multipart/form-data': { schema: formOf({ ...body }, upload.field) } };
    return {
      required: optionalBody !== true || upload !== undefined,
      content: { 'application/json': json, ...form },
    };
  }

  #successesOf(route: Route): Record<string, Json> {
    const { status, existing } = route.reply;
    const success = this.#success(route);
    return { ...(existing === true ? { 200: success } : {}), [status]: success };
  }

  /** One response for each shape, whatever endpoints answer it. */
  #success(route: Route): Json {
    const { reply } = route;
    if (reply.envelope === 'events') return this.#tail(route);
    const name = this.#schemas.nameOf(reply.schema);
    const envelope = name === undefined ? undefined : `${name}${reply.list === true ? 'List' : ''}Response`;
    const whole = envelopeSchema(route);
    const schema = envelope === undefined ? this.#schemas.of(whole) : this.#schemas.add(envelope, whole);
    const response = {
      description: reply.description ?? (reply.list === true ? 'Page of results.' : 'Success.'),
      headers: successHeaders(route),
      content: { 'application/json': { schema, examples: { default: { value: exampleOf(whole, true) } } } },
    };
    if (reply.tail !== undefined) return this.#withTail(response, reply.tail);
    if (reply.csv !== undefined) return withTable(response, reply.csv);
    if (name === undefined || reply.description !== undefined) return response;
    const shared = [name, ...(reply.list === true ? ['List'] : []), ...variant(route)].join('');
    this.#successes.set(shared, response);
    return refTo('responses', shared);
  }

  #withTail(response: Json & { description: string; content: Json }, tail: object): Json {
    const events = this.#events(tail);
    return {
      ...response,
      description: `${response.description} With \`Accept: text/event-stream\`: ${events.description}`,
      content: { ...response.content, ...events.content },
    };
  }

  #tail({ reply, ...route }: Route): Json {
    return { headers: successHeaders({ ...route, reply }), ...this.#events(reply.schema) };
  }

  #events(schema: object): { description: string; content: Json } {
    const name = this.#schemas.nameOf(schema) ?? 'object';
    const value = `event: event\ndata: ${JSON.stringify(exampleOf(schema, true))}\n\n`;
    return {
      description: `Server-sent events. The data of each main event is a JSON object of type ${name}.`,
      content: { 'text/event-stream': { schema: { type: 'string' }, examples: { default: { value } } } },
    };
  }
}

function withTable(response: Json & { content: Json }, columns: readonly string[]): Json {
  const value = `${columns.join(',')}\r\n`;
  const table = { schema: { type: 'string' }, examples: { default: { value } } };
  return { ...response, content: { ...response.content, 'text/csv': table } };
}

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const isTailed = ({ reply }: Route): boolean => reply.envelope === 'events' || reply.tail !== undefined;

/** Headers tell the answers of one shape apart. */
function variant({ auth, idempotent }: Route): string[] {
  return [...(auth === 'none' ? ['Uncounted'] : []), ...(idempotent ? ['Idempotent'] : [])];
}

export const groupOf = ({ operationId }: Route): string => operationId.split('.', 1)[0] ?? '';

/** A list in one parameter goes over the wire with commas, and a pattern that only the document has is shown. */
function parameter(name: string, where: 'path' | 'query', property: Json, required: boolean): Json {
  const { description, 'x-items': items, 'x-pattern': pattern, ...rest } = property;
  const schema = isJson(items)
    ? { type: 'array', minItems: 1, items }
    : { ...rest, ...(pattern === undefined ? {} : { pattern }) };
  return {
    name,
    in: where,
    required: where === 'path' || required,
    ...(description === undefined ? {} : { description }),
    ...(isJson(items) ? { style: 'form', explode: false } : {}),
    schema,
  };
}

/** Form fields are text: properties of other JSON types cannot be sent in a form. */
function formOf(body: Json, field: string): Json {
  const members = Object.entries(isJson(body.properties) ? body.properties : {});
  const texts = members.filter(([, property]) => isJson(property) && property.type === 'string');
  const required = Array.isArray(body.required) ? body.required : [];
  const file = {
    type: 'string',
    contentMediaType: 'application/octet-stream',
    description: 'File to upload.',
  };
  return {
    type: 'object',
    required: [...required, field],
    properties: { ...Object.fromEntries(texts), [field]: file },
  };
}
