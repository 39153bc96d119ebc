import formBody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../http/assets.ts';
import { formField, rejectCrossSite, sendFailure } from '../../../http/forms.ts';
import { type Page, sendPage } from '../../../http/page.ts';
import { limitByIp } from '../../../http/plugins/limits.ts';
import type { RequestCounters } from '../../../http/ports.ts';
import type { Limit } from '../../../http/route.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { EmailLinkRequestPurpose as LinkPurpose } from '../../../platform/db/tables.generated.ts';
import { emailChangePages } from './email-change.pages.ts';
import type { EmailChange } from './email-change.service.ts';
import type { EmailLinks } from './email-links.service.ts';
import { confirmForm, done, expired, failed, passwordForm, requested, requestForm } from './pages.views.ts';

interface Deps {
  links: EmailLinks;
  addressChange: EmailChange;
  assets: WebAssets;
  counters: Pick<RequestCounters, 'window'>;
}

type FormRequest = FastifyRequest<{ Querystring: Record<string, unknown>; Body: unknown }>;

const FORM_BYTES = 16_384;
const LINK_CAP: Limit = { bucket: 'mail-link', per: 'ip', max: 5, windowSec: 900, refusal: 'RATE_LIMITED' };

/**
 * `/verify-email`, `/forgot-password`, `/reset-password`, `/change-email` and `/keep-email` (docs/decisions/authentication.md#email-links).
 * A GET shows a form and changes nothing, as mail programs open links by themselves; the POST acts.
 */
export function authPages(deps: Deps): (app: FastifyInstance) => void {
  return (app) => {
    // Separate scope, because all other bodies are JSON.
    app.register(async (scope) => {
      await scope.register(formBody, { bodyLimit: FORM_BYTES });
      scope.addHook('onRequest', rejectCrossSite);
      scope.setErrorHandler((error, _request, reply) => sendFailure(deps.assets, error, reply, failed));
      verifyEmail(scope, deps);
      forgotPassword(scope, deps);
      resetPassword(scope, deps);
      emailChangePages(scope, deps);
    });
  };
}

function verifyEmail(app: FastifyInstance, deps: Deps): void {
  const { links, assets } = deps;
  app.get('/verify-email', async (request: FormRequest, reply) => {
    const token = formField(request.query, 'token');
    if (token === '') return sendPage(reply, assets, requestForm('VERIFY_EMAIL'));
    const usable = await links.isUsable('VERIFY_EMAIL', token);
    return sendPage(reply, assets, usable ? confirmForm(token) : expired('VERIFY_EMAIL'));
  });
  app.post('/verify-email', async (request: FormRequest, reply) => {
    const token = formField(request.body, 'token');
    if (token === '') return requestLink(deps, request, reply, 'VERIFY_EMAIL');
    const verified = await links.verifyEmail(token);
    return sendPage(reply, assets, verified ? done('VERIFY_EMAIL') : expired('VERIFY_EMAIL'));
  });
}

function forgotPassword(app: FastifyInstance, deps: Deps): void {
  app.get('/forgot-password', (_request, reply) =>
    sendPage(reply, deps.assets, requestForm('RESET_PASSWORD')),
  );
  app.post('/forgot-password', (request: FormRequest, reply) =>
    requestLink(deps, request, reply, 'RESET_PASSWORD'),
  );
}

function resetPassword(app: FastifyInstance, { links, assets }: Deps): void {
  app.get('/reset-password', async (request: FormRequest, reply) => {
    const token = formField(request.query, 'token');
    const usable = token !== '' && (await links.isUsable('RESET_PASSWORD', token));
    return sendPage(reply, assets, usable ? passwordForm(token) : expired('RESET_PASSWORD'));
  });
  app.post('/reset-password', async (request: FormRequest, reply) => {
    const token = formField(request.body, 'token');
    return sendPage(reply, assets, await setPassword(links, token, formField(request.body, 'password')));
  });
}

async function setPassword(links: EmailLinks, token: string, password: string): Promise<Page> {
  try {
    const changed = await links.resetPassword(token, password);
    return changed ? done('RESET_PASSWORD') : expired('RESET_PASSWORD');
  } catch (error) {
    if (error instanceof AppError && error.code === 'WEAK_PASSWORD')
      return passwordForm(token, error.message);
    throw error;
  }
}

/** Responds the same whether or not the account exists. */
async function requestLink(
  { links, assets, counters }: Deps,
  request: FormRequest,
  reply: FastifyReply,
  purpose: LinkPurpose,
): Promise<FastifyReply> {
  await limitByIp({ counters }, LINK_CAP, request.ip);
  await links.request(purpose, formField(request.body, 'email'));
  return sendPage(reply, assets, requested(purpose));
}
