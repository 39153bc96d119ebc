import type { FastifyReply, FastifyRequest } from 'fastify';

/** What a reader of media files needs to know of a request. */
export interface FileRequest {
  method: 'GET' | 'HEAD';
  range?: string | undefined;
  ifNoneMatch?: string | undefined;
  ifRange?: string | undefined;
  /** Shared caches must not keep the answer. */
  isPrivate?: boolean | undefined;
}

/** An answer of such a reader; it knows no HTTP framework. */
export interface FileReply {
  status: number;
  headers: Record<string, string>;
  body: NodeJS.ReadableStream | Buffer | string | null;
}

export function fileRequestOf(
  { method, headers }: Pick<FastifyRequest, 'method' | 'headers'>,
  isPrivate: boolean,
): FileRequest {
  const ifRange = headers['if-range'];
  return {
    method: method === 'HEAD' ? 'HEAD' : 'GET',
    range: headers.range,
    ifNoneMatch: headers['if-none-match'],
    ifRange: typeof ifRange === 'string' ? ifRange : undefined,
    isPrivate,
  };
}

export function sendFile(reply: FastifyReply, answer: FileReply): FastifyReply {
  // Fastify would write null as JSON.
  return reply
    .status(answer.status)
    .headers(answer.headers)
    .send(answer.body ?? undefined);
}
