import type { Static, TObject, TSchema } from 'typebox';
import Type from 'typebox';
import type { Caller, Mode, Permission, SessionActor } from '../kernel/access.ts';
import { AppError, type ErrorCode } from '../kernel/errors.ts';
import type { Deprecation } from '../kernel/release.ts';
import type { RequestContext } from './context.ts';
import { compileInput } from './validation.ts';

/**
 * `key`: an API key is needed, or a session of the dashboard. `session`: the session itself, no key is read.
 * `public`: they are optional and only attribute the request. `optional`: works without a key; one that is sent is
 * checked as with `key`. `none`: neither is read.
 */
export type Auth = 'key' | 'session' | 'public' | 'optional' | 'none';
/**
 * Surfaces with a rule of their own; `session-owner` and `admin` are for people, never for keys. Decided before scope and permission
 * (docs/decisions/authorization.md#rejection-order).
 */
export type Gate = 'finance-read' | 'finance-write' | 'owner' | 'user' | 'session-owner' | 'admin';

/**
 * A limit of an endpoint in addition to the key's general limit (docs/concepts/conventions.md#rate-limits).
 */
export interface Limit {
  /** Endpoints that name the same bucket count together. */
  bucket: string;
  /** Subject whose requests are counted together. IPv6 addresses count by their /64. */
  per: 'ip' | 'key';
  /** A path parameter that tells counts apart, such as the stream of a chat. */
  param?: string;
  max: number;
  /** `day`: the UTC day. */
  windowSec: number | 'day';
  /**
   * The code of the refusal; `text` is RATE_LIMITED with `error` as a string (docs/concepts/conventions.md#errors).
   */
  refusal: 'text' | 'RATE_LIMITED' | 'RATE_LIMIT';
}

/** The file part of a multipart body, which the endpoint takes as well as JSON. */
export interface Upload {
  field: string;
  maxBytes: number;
}

/** Rows of a list and where the next page starts (docs/concepts/conventions.md#lists). */
export interface Page<T> {
  items: readonly T[];
  /** The cursor of the next page, or null on the last one. */
  nextCursor: string | null;
  limit: number;
  /** Additional fields of `data` next to the rows, when `reply.meta` is set. */
  meta?: object;
}

/** A resource that the handler found instead of creating it: sent with 200, when `reply.existing` is set. */
export class ExistingResource {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

interface Policy {
  /** `<group>.<verb>`, unique; the OpenAPI operation and the metrics label. */
  operationId: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base URL, with `{name}` for parameters. */
  path: string;
  summary: string;
  description?: string;
  /** The permission that a key with a permission list must hold; null on surfaces open to any key. */
  permission: Permission | null;
  gate: Gate | null;
  /** False where nothing of the key's workspace changes: READ_ONLY may call it whatever the method. */
  writes?: false;
  /**
   * The mode that the key must have: `live` where something of the whole account is set, `test` where something is
   * simulated.
   */
  onlyMode?: Mode;
  /**
   * With a session the endpoint concerns only the person: any team role may call it. Keys need the
   * permission.
   */
  selfService?: true;
  /** A session has to have confirmed its password a moment ago (docs/concepts/authentication.md#sessions). */
  recentPassword?: true;
  /** Only pages of the platform may call it: it signs a browser in. */
  ownOrigin?: true;
  /** Caps of this endpoint, checked in order; the first that is reached refuses and the rest do not count. */
  limits?: readonly Limit[];
  /**
   * Accepts Idempotency-Key (docs/concepts/conventions.md#idempotency). `leased`: its handler calls other
   * services, so it runs without a transaction, and its results are found again by `context.idempotentRunId`
   * (docs/decisions/idempotency.md#leases).
   */
  idempotent?: boolean | 'leased';
  /**
   * Only from a platform host or a verified integration domain
   * (docs/concepts/integration-domains.md#the-origin-lock).
   */
  originLock?: boolean;
  /**
   * Location of the ID of the API key that the request concerns: a key may do this to itself regardless of
   * the gate and its scope (docs/concepts/conventions.md#scopes-and-permissions).
   */
  ownKey?: { in: readonly ('params' | 'query' | 'body')[]; name: string };
  /** A request without a body is one with an empty object. */
  optionalBody?: true;
  upload?: Upload;
  /** Programs ask for it over and over: the request log leaves its successes out. */
  skipSuccessLog?: true;
  reply: Reply;
  /** Codes beyond those that the policy and the shapes imply. A path with a parameter implies NOT_FOUND. */
  errors?: readonly ErrorCode[];
}

type Reply = EnvelopedReply | FlatReply | EventReply;

interface EnvelopedReply {
  status: 200 | 201 | 202;
  /** The shape of `data`; of one row where `list` is set. */
  schema: TSchema;
  /** The handler returns a `Page`, sent as `data` and `pagination`. */
  list?: boolean;
  /** Whether a 201 endpoint may return an `ExistingResource` with 200. */
  existing?: true;
  /** For a list: `data` is an object with these fields and the `rows`, instead of the rows themselves. */
  meta?: TObject;
  envelope?: 'data';
  description?: string;
  /**
   * The data of the main event, where `Accept: text/event-stream` opens a tail of the same: the handler returns a
   * `Tail` when `context.acceptsEventStream`.
   */
  tail?: TSchema;
  /** Columns of the table, where `Accept: text/csv` gets one: the handler returns `CsvRows` when `context.acceptsCsv`. */
  csv?: readonly string[];
}

/**
 * Response whose fields are next to `success`, without `data` (docs/concepts/conventions.md#envelopes, login
 * and register).
 */
interface FlatReply {
  status: 200 | 201;
  schema: TObject;
  list?: false;
  existing?: undefined;
  meta?: undefined;
  envelope: 'flat';
  description?: string;
  tail?: undefined;
  csv?: undefined;
}

/** Server-sent events (docs/decisions/event-streams.md): the handler returns a `Tail`. */
interface EventReply {
  status: 200;
  /** The shape of the data of its main event. */
  schema: TSchema;
  list?: false;
  existing?: undefined;
  meta?: undefined;
  envelope: 'events';
  /** Maximum open streams per account, in addition to the limit per key. */
  perAccount?: number;
  description?: string;
  tail?: undefined;
  csv?: undefined;
}

/** Caller of an endpoint that only people can call. */
export type SessionCaller = Caller & { actor: SessionActor };

/** Type of the caller, by the authentication of the endpoint. */
interface Callers {
  key: Caller;
  session: SessionCaller;
  public: Caller | null;
  optional: Caller | null;
  none: Caller | null;
}

/** Schemas of a route; without a schema no input is accepted. */
interface Spec<A extends Auth, P extends TObject, Q extends TObject, B extends TSchema> extends Policy {
  auth: A;
  params?: P;
  query?: Q;
  body?: B;
  handler(context: RequestContext<Callers[A]>, input: Input<P, Q, B>): Promise<unknown>;
}

type AnySpec = { [A in Auth]: Spec<A, TObject, TObject, TSchema> }[Auth];

/** Options that several routes spread; constants satisfy it, so that a misspelled option is an error. */
export type RouteOptions = Partial<AnySpec>;

interface Input<P extends TObject, Q extends TObject, B extends TSchema> {
  params: Static<P>;
  query: Static<Q>;
  body: Static<B>;
}

/** The parts of a request before they are checked. */
export interface RawInput {
  params: unknown;
  query: unknown;
  body: unknown;
}

/** A declared endpoint, whatever its shapes are: what the registry holds. */
export interface Route extends Policy {
  /** The composition root sets it, out of the releases. */
  deprecated?: Deprecation;
  auth: Auth;
  idempotent: boolean | 'leased';
  originLock: boolean;
  errors: readonly ErrorCode[];
  params: TObject;
  query: TObject;
  body: TSchema;
  /** Checks the input; throws 400 BAD_REQUEST naming the offending one. The result runs the handler. */
  prepare(raw: RawInput): (context: RequestContext<Caller | null>) => Promise<unknown>;
}

/** Schemas of endpoints without path parameters, query parameters or a body. */
export const NoParams = Type.Object({});
export const NoQuery = Type.Object({});
export const NoBody = Type.Unknown();

function withDefaults<S extends AnySpec>(spec: S) {
  const { errors = [], params = NoParams, query = NoQuery, body = NoBody } = spec;
  const implied: readonly ErrorCode[] = spec.path.includes('{') ? ['NOT_FOUND'] : [];
  return {
    ...spec,
    idempotent: spec.idempotent ?? false,
    originLock: spec.originLock ?? false,
    errors: [...errors, ...implied],
    params,
    query,
    body,
  };
}

function compileShapes(shapes: ReturnType<typeof withDefaults<AnySpec>>) {
  const params = compileInput(shapes.params, 'params');
  const query = compileInput(shapes.query, 'query');
  const body = compileInput(shapes.body, 'body');
  const absent = shapes.optionalBody === true ? () => ({}) : () => undefined;
  return (raw: RawInput) => ({
    params: params(raw.params),
    query: query(raw.query),
    body: body(raw.body === undefined ? absent() : raw.body),
  });
}

/** Runs the handler for the caller that the declaration asks for. @throws {AppError} UNAUTHORIZED for others. */
function answer(
  spec: AnySpec,
  context: RequestContext<Caller | null>,
  input: Input<TObject, TObject, TSchema>,
): Promise<unknown> {
  switch (spec.auth) {
    case 'key':
      if (!isOfCaller(context)) throw new AppError('UNAUTHORIZED');
      return spec.handler(context, input);
    case 'session':
      if (!isOfSession(context)) throw new AppError('UNAUTHORIZED');
      return spec.handler(context, input);
    default:
      return spec.handler(context, input);
  }
}

function isOfCaller(context: RequestContext<Caller | null>): context is RequestContext {
  return context.caller !== null;
}

function isOfSession(context: RequestContext<Caller | null>): context is RequestContext<SessionCaller> {
  return context.caller?.actor.kind === 'session';
}

/**
 * Declares one endpoint (docs/concepts/authentication.md#the-key); `auth` determines the type of its caller.
 * The handler returns `data`, or a `Page` when `reply.list` is set. The declaration feeds validation,
 * serialization, policy, 405 `Allow`, metrics and OpenAPI.
 */
export function defineRoute<
  A extends Auth,
  P extends TObject = typeof NoParams,
  Q extends TObject = typeof NoQuery,
  B extends TSchema = typeof NoBody,
>(spec: Spec<A, P, Q, B>): Route;
export function defineRoute(spec: AnySpec): Route {
  const route = withDefaults(spec);
  const read = compileShapes(route);
  return {
    ...route,
    prepare(raw) {
      const input = read(raw);
      return (context) => answer(spec, context, input);
    },
  };
}
