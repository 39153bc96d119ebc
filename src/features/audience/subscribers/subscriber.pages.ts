import formBody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../http/assets.ts';
import { formField, rejectCrossSite, sendFailure } from '../../../http/forms.ts';
import { sendPage } from '../../../http/page.ts';
import type { Subscribers } from './service.ts';
import * as views from './subscriber.views.ts';

interface Deps {
  subscribers: Pick<Subscribers, 'asked' | 'confirm' | 'leaving' | 'leave'>;
  assets: WebAssets;
}

type SubscriberPageRequest = FastifyRequest<{
  Params: { id: string };
  Querystring: Record<string, unknown>;
  Body: unknown;
}>;

const FORM_BYTES = 16_384;

/** Token of the URL, otherwise of the form. */
const tokenOf = ({ query, body }: SubscriberPageRequest) =>
  formField(query, 'token') || formField(body, 'token');

/**
 * `/subscribers/:id/confirm` and `/subscribers/:id/unsubscribe`, by links in mails
 * (docs/concepts/subscribers.md#email-links). A GET shows a form and changes nothing, as mail programs open links by
 * themselves. The POST that leaves is that of RFC 8058, too, which mail programs send without a page.
 */
export function subscriberPages({ subscribers, assets }: Deps): (app: FastifyInstance) => void {
  return (app) => {
    // Separate scope, because all other bodies are JSON.
    app.register(async (scope) => {
      await scope.register(formBody, { bodyLimit: FORM_BYTES });
      // RFC 8058 allows either kind of form; its content is ignored.
      scope.addContentTypeParser(
        'multipart/form-data',
        { parseAs: 'buffer', bodyLimit: FORM_BYTES },
        (_request, _bytes, done) => done(null, {}),
      );
      scope.addHook('onRequest', rejectCrossSite);
      scope.setErrorHandler((error, _request, reply) => sendFailure(assets, error, reply, views.errorPage));
      scope.get('/subscribers/:id/confirm', async (request: SubscriberPageRequest, reply) => {
        const token = tokenOf(request);
        const whose = await subscribers.asked(request.params.id, token);
        return sendPage(reply, assets, views.confirmPage(whose, token));
      });
      scope.post('/subscribers/:id/confirm', async (request: SubscriberPageRequest, reply) => {
        const { creator } = await subscribers.confirm(request.params.id, tokenOf(request));
        return sendPage(reply, assets, views.confirmedPage(creator));
      });
      scope.get('/subscribers/:id/unsubscribe', async (request: SubscriberPageRequest, reply) => {
        const token = tokenOf(request);
        const whose = await subscribers.leaving(request.params.id, token);
        return sendPage(
          reply,
          assets,
          whose === null ? views.unsubscribedPage() : views.unsubscribePage(whose, token),
        );
      });
      scope.post('/subscribers/:id/unsubscribe', async (request: SubscriberPageRequest, reply) => {
        await subscribers.leave(request.params.id, tokenOf(request));
        return sendPage(reply, assets, views.unsubscribedPage());
      });
    });
  };
}
