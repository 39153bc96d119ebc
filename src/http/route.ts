import type { Static, TObject, TSchema } from 'typebox';
import Type from 'typebox';
import { AppError, type ErrorCode } from '../kernel/errors.ts';
import type { Caller, RequestContext } from './context.ts';
import { compileInput } from './validation.ts';

/** `key`: an API key is needed. `public`: a key only attributes. `none`: no key is read. */
export type Auth = 'key' | 'public' | 'none';
/** Surfaces with a rule of their own, decided before scope and permission (`api.md` C0.18). */
export type Gate = 'finance-read' | 'finance-write' | 'owner' | 'admin';

/** Rows of a list and where the next page starts (`api.md` C1). */
export interface Page<T> {
  items: readonly T[];
  /** The cursor of the next page, or null on the last one. */
  nextCursor: string | null;
  limit: number;
}

interface Policy {
  /** `<group>.<verb>`, unique; the OpenAPI operation and the metrics label. */
  operationId: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base URL, with `{name}` for parameters, as the contract writes it. */
  path: string;
  summary: string;
  description?: string;
  /** The permission that a key with a permission list must hold; null on surfaces open to any key. */
  permission: string | null;
  gate: Gate | null;
  /** Accepts Idempotency-Key (contract 4.2). */
  idempotent: boolean;
  /** Only from a platform host or a verified integration domain (contract 5.3). */
  originLock: boolean;
  reply: Reply;
  /** Codes beyond those that the policy and the shapes imply. */
  errors: readonly ErrorCode[];
}

interface Reply {
  status: 200 | 201 | 202;
  /** The shape of `data`; of one row where `list` is set. */
  schema: TSchema;
  /** The handler returns a `Page`, sent as `data` and `pagination`. */
  list?: boolean;
  description?: string;
}

interface Shapes<P extends TObject, Q extends TObject, B extends TSchema> {
  params: P;
  query: Q;
  body: B;
}

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
export interface Route extends Policy, Shapes<TObject, TObject, TSchema> {
  auth: Auth;
  /** Checks the input; throws 400 BAD_REQUEST naming the offending one. The result runs the handler. */
  prepare(raw: RawInput): (context: RequestContext<Caller | null>) => Promise<unknown>;
}

/** For endpoints without path parameters, query parameters or a body. */
export const NoParams = Type.Object({});
export const NoQuery = Type.Object({});
export const NoBody = Type.Unknown();

function compileShapes<P extends TObject, Q extends TObject, B extends TSchema>(
  shapes: Shapes<P, Q, B>,
): (raw: RawInput) => Input<P, Q, B> {
  const params = compileInput(shapes.params, 'params');
  const query = compileInput(shapes.query, 'query');
  const body = compileInput(shapes.body, 'body');
  return (raw) => ({ params: params(raw.params), query: query(raw.query), body: body(raw.body) });
}

/**
 * Declares one endpoint that needs an API key. The handler returns `data`, or a `Page` where `reply.list`
 * is set. The declaration feeds validation, serialisation, policy, 405 `Allow`, metrics and OpenAPI.
 */
export function defineRoute<P extends TObject, Q extends TObject, B extends TSchema>(
  spec: Policy &
    Shapes<P, Q, B> & {
      auth: 'key';
      handler(context: RequestContext, input: Input<P, Q, B>): Promise<unknown>;
    },
): Route {
  const read = compileShapes(spec);
  return {
    ...spec,
    prepare(raw) {
      const input = read(raw);
      return async (context) => {
        const { caller } = context;
        if (caller === null) throw new AppError('UNAUTHORIZED');
        return spec.handler({ ...context, caller }, input);
      };
    },
  };
}

/** Declares one endpoint that answers without a key (contract 5, rule 3). */
export function definePublicRoute<P extends TObject, Q extends TObject, B extends TSchema>(
  spec: Policy &
    Shapes<P, Q, B> & {
      auth: 'public' | 'none';
      handler(context: RequestContext<Caller | null>, input: Input<P, Q, B>): Promise<unknown>;
    },
): Route {
  const read = compileShapes(spec);
  return {
    ...spec,
    prepare(raw) {
      const input = read(raw);
      return (context) => spec.handler(context, input);
    },
  };
}
