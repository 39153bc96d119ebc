import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../kernel/access.ts';
import type { Visit } from '../kernel/visit.ts';
import type { Logger } from '../platform/logger.ts';
import type { RequestContext, SessionKeeper, UploadedFile } from './context.ts';
import type { HttpPorts } from './ports.ts';
import { visitOf } from './visit.ts';

interface Given {
  request: FastifyRequest;
  reply: FastifyReply;
  sessions: HttpPorts['sessions'];
  log: Logger;
  upload: UploadedFile | undefined;
}

/** What a handler gets. What few of them ask for is made when they do: every request would pay for it. */
export class Asked implements RequestContext<Caller | null> {
  readonly #given: Given;
  readonly caller: Caller | null;
  readonly ip: string;
  readonly acceptsEvents: boolean;
  readonly acceptsCsv: boolean;
  readonly operationId: string | null;

  constructor(given: Given, accepts: { events: boolean; csv: boolean }, operationId: string | null = null) {
    this.#given = given;
    this.caller = given.request.caller;
    // Now: a connection that has ended has none any more.
    this.ip = given.request.ip;
    this.acceptsEvents = accepts.events;
    this.acceptsCsv = accepts.csv;
    this.operationId = operationId;
  }

  /** The same, as a leased request. */
  as(operationId: string): Asked {
    return new Asked(this.#given, { events: this.acceptsEvents, csv: this.acceptsCsv }, operationId);
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

  get visit(): () => Visit {
    const { request } = this.#given;
    return () => visitOf(request);
  }

  get log(): Logger {
    return this.#given.log;
  }

  get upload(): UploadedFile | undefined {
    return this.#given.upload;
  }

  get session(): SessionKeeper {
    const { reply, sessions } = this.#given;
    return {
      keep: (token) => void reply.header('Set-Cookie', sessions.cookie.keep(token)),
      drop: () => void reply.header('Set-Cookie', sessions.cookie.drop()),
    };
  }
}
