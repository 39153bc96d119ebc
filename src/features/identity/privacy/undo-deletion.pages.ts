import formBody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../http/assets.ts';
import { failurePage, formField, rejectCrossSite, sendFailure } from '../../../http/forms.ts';
import { emailLinkPage, type Page, sendPage } from '../../../http/page.ts';
import { html } from '../../../platform/html.ts';
import type { Erasure } from './erasure.service.ts';

interface Deps {
  erasure: Pick<Erasure, 'isKeepable' | 'keep'>;
  assets: WebAssets;
}

type FormRequest = FastifyRequest<{ Querystring: Record<string, unknown>; Body: unknown }>;

const FORM_BYTES = 4096;
const GONE = {
  heading: 'This link is invalid or has expired',
  text: 'The account was already restored, or has been erased.',
};

/** `/keep-account`: the way back from a deleted account (docs/concepts/me.md#deleting-the-account). */
export function undoDeletionPages({ erasure, assets }: Deps): (app: FastifyInstance) => void {
  return (app) => {
    app.register(async (scope) => {
      await scope.register(formBody, { bodyLimit: FORM_BYTES });
      scope.addHook('onRequest', rejectCrossSite);
      scope.setErrorHandler((error, _request, reply) =>
        sendFailure(assets, error, reply, (refused) => failurePage(refused, GONE)),
      );
      scope.get('/keep-account', async (request: FormRequest, reply) => {
        const token = formField(request.query, 'token');
        return sendPage(reply, assets, (await erasure.isKeepable(token)) ? restoreForm(token) : gone());
      });
      scope.post('/keep-account', async (request: FormRequest, reply) => {
        const isKept = await erasure.keep(formField(request.body, 'token'));
        return sendPage(reply, assets, isKept ? restoredPage() : gone());
      });
    });
  };
}

function restoreForm(token: string): Page {
  return emailLinkPage(
    200,
    'Keep your account',
    html`<form class="form" method="post" action="/keep-account">
<input type="hidden" name="token" value="${token}">
<button class="button" type="submit">Keep account</button>
</form>`,
  );
}

function restoredPage(): Page {
  return emailLinkPage(
    200,
    'Account restored',
    html`<p>All data is unchanged, and your API keys work again.</p>
<p><a class="button" href="/dashboard">Sign in</a></p>`,
  );
}

function gone(): Page {
  return emailLinkPage(404, GONE.heading, html`<p>${GONE.text}</p>`);
}
