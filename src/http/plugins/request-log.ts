import type { FastifyInstance, FastifyRequest } from 'fastify';
import { keyIdOf } from '../../kernel/access.ts';
import type { HttpPorts, RequestRecorder } from '../ports.ts';
import { redactPath, roundedMs } from './access-log.ts';
import { isBelow } from './security-headers.ts';

/**
 * Passes responses to known callers to the request log (docs/concepts/requests.md#logged-requests). The
 * record contains the data of the access log, and so holds no secret: no query, no header, no body.
 */
export function requestLog(
  app: FastifyInstance,
  basePath: string,
  ports: Pick<HttpPorts, 'requestLog'>,
): void {
  app.decorateRequest('errorCode', null);
  app.decorateRequest('isCounted', false);
  app.addHook('onResponse', (request, reply, done) => {
    const status = reply.statusCode;
    if (isBelow(basePath, request.originalUrl)) {
      if (isNoted(request, status)) {
        recordRequest(ports.requestLog, request, { status, ms: reply.elapsedTime });
      }
      countRequest(ports.requestLog, request, status);
    }
    done();
  });
}

/** An event stream was noted when it was opened. */
function isNoted({ endpoint }: FastifyRequest, status: number): boolean {
  return status >= 400 || (endpoint?.skipSuccessLog !== true && endpoint?.reply.envelope !== 'events');
}

interface Answer {
  status: number;
  /** Until it began. */
  ms: number;
}

/** Once, whatever it is; nothing where the caller is not known. */
export function countRequest(recorder: RequestRecorder, request: FastifyRequest, status: number): void {
  const { caller } = request;
  if (caller === null || request.isCounted) return;
  request.isCounted = true;
  recorder.count({ workspaceId: caller.workspaceId, keyId: keyIdOf(caller), status });
}

/** Nothing where the caller is not known. */
export function recordRequest(recorder: RequestRecorder, request: FastifyRequest, answer: Answer): void {
  const { caller, errorCode: code, id: requestId, method } = request;
  if (caller === null) return;
  const keyId = keyIdOf(caller);
  const { workspaceId } = caller;
  const path = redactPath(request);
  recorder.note({
    ...{ requestId, workspaceId, keyId, method, path, code },
    status: answer.status,
    ms: roundedMs(answer.ms),
  });
}
