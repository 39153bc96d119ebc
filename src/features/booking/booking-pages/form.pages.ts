import formBody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../http/assets.ts';
import { rejectCrossSite, sendFailure } from '../../../http/forms.ts';
import { errorPage } from './book.views.ts';

/** Request for one of the pages or by one of their forms. */
export type FormRequest<P = { id: string }> = FastifyRequest<{
  Params: P;
  Querystring: Record<string, unknown>;
  Body: unknown;
}>;

/** Maximum form size: twenty long answers, each character multi-byte and percent-encoded. */
const FORM_BYTES = 1_048_576;

/** Registers pages with forms in a separate scope, because all other bodies are JSON. */
export function withForms(
  assets: WebAssets,
  mount: (scope: FastifyInstance) => void,
): (app: FastifyInstance) => void {
  return (app) => {
    app.register(async (scope) => {
      await scope.register(formBody, { bodyLimit: FORM_BYTES });
      scope.addHook('onRequest', rejectCrossSite);
      scope.setErrorHandler((error, _request, reply) => sendFailure(assets, error, reply, errorPage));
      mount(scope);
    });
  };
}
