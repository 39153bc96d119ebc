import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../kernel/access.ts';
import type { ClientInfo } from '../kernel/client-info.ts';
import type { Logger } from '../platform/logger.ts';
import { clientInfoOf } from './client-info.ts';
import type { RequestContext, SessionCookieWriter, UploadedFile } from './context.ts';
import type { HttpPorts } from './ports.ts';

interface HandlerContextDeps {
  request: FastifyRequest;
  reply: FastifyReply;
  sessions: HttpPorts['sessions'];
  log: Logger;
  upload: UploadedFile | undefined;
}

/**
 * Context of a handler. Rarely used values are computed on demand, because every request would pay for them.
 */
export class HandlerContext implements RequestContext<Caller | null> {
  readonly #given: HandlerContextDeps;
  readonly caller: Caller | null;
  readonly ip: string;
  readonly acceptsEventStream: boolean;
  readonly acceptsCsv: boolean;
  readonly idempotentRunId: string | null;

  constructor(
    given: HandlerContextDeps,
    accepts: { events: boolean; csv: boolean },
    idempotentRunId: string | null = null,
  ) {
    this.#given = given;
    this.caller = given.request.caller;
    // Read now: a closed connection no longer has an address.
    this.ip = given.request.ip;
    this.acceptsEventStream = accepts.events;
    this.acceptsCsv = accepts.csv;
    this.idempotentRunId = idempotentRunId;
  }

  /** Returns a copy for a leased request. */
  withIdempotentRunId(idempotentRunId: string): HandlerContext {
    return new HandlerContext(
      this.#given,
      { events: this.acceptsEventStream, csv: this.acceptsCsv },
      idempotentRunId,
    );
  }

  get requestId(): string {
    return this.#given.request.id;
  }

  get userTokenId(): string | null {
    return this.#given.request.userTokenId;
  }

  get userAgent(): string {
    return this.#given.request.headers['user-agent'] ?? '';
  }

  get client(): () => ClientInfo {
    const { request } = this.#given;
    return () => clientInfoOf(request);
  }

  get log(): Logger {
    return this.#given.log;
  }

  get upload(): UploadedFile | undefined {
    return this.#given.upload;
  }

  get session(): SessionCookieWriter {
    const { reply, sessions } = this.#given;
    return {
      set: (token) => void reply.header('Set-Cookie', sessions.cookie.keep(token)),
      clear: () => void reply.header('Set-Cookie', sessions.cookie.drop()),
    };
  }
}
