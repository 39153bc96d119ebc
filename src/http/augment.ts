import type { Caller } from '../kernel/access.ts';
import type { AppError, ErrorCode } from '../kernel/errors.ts';
import type { QuotaExceededDetails } from '../kernel/plans.ts';
import type { EventStreams } from './event-stream.ts';
import type { Route } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Declaration of the matched path and method; null on pages, files and unknown paths. */
    endpoint: Route | null;
    /** Set by the authenticate plugin; null where no valid key came. */
    caller: Caller | null;
    /**
     * The id of the user token that came with the request, of the key's own account; null without one
     * (docs/concepts/authentication.md#user-tokens).
     */
    userTokenId: string | null;
    /** The JSON body as it was sent, for the idempotency hash. */
    rawBody: Buffer | null;
    /** Why the body cannot be read; thrown once the idempotency key of the request has been looked up. */
    bodyFailure: AppError | null;
    /** The policy refuses, unless the request turns out to be about the caller's own key. */
    heldRefusal: AppError | null;
    /** `error.code` of the answer; null where there was no error. */
    errorCode: ErrorCode | null;
    /** It was counted among the requests of its caller. */
    isCounted: boolean;
    /** The plan refused it. */
    quotaRefusal: QuotaExceededDetails | null;
    /** The endpoint has reached its sunset. */
    gone: AppError | null;
  }
  interface FastifyInstance {
    /** Event streams, for pages that have their own. */
    eventStreams: EventStreams;
  }
  interface FastifyContextConfig {
    /** The endpoint behind the matched path; absent on pages and files. */
    route?: Route;
    /** The path is declared, this method of it is not. */
    unroutable?: true;
    /** Disables the default CORS: the route's handlers decide which pages may send and read. */
    cors?: false;
    /** The handler reads the body itself, for as long as bytes come: no limit of length or time. */
    streams?: true;
  }
}
