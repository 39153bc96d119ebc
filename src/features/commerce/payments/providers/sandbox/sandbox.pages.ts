import formBody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../../../http/assets.ts';
import { sendPage } from '../../../../../http/page.ts';
import type { Sandbox } from './sandbox.ts';
import { accountPage, confirmPage, endedPage, returnPage } from './sandbox.views.ts';

interface Deps {
  sandbox: Pick<Sandbox, 'waiting' | 'confirm'>;
  assets: WebAssets;
}

type ConfirmRequest = FastifyRequest<{ Params: { ref: string }; Body: { outcome?: unknown } | undefined }>;

const FORM_BYTES = 1024;

/**
 * Registers `/sandbox/*`, the pages that another provider would host (docs/guides/money.md#test-cards). The
 * URL of a payment is its secret, as with a provider's session, so its form needs no other.
 */
export function sandboxPages({ sandbox, assets }: Deps): (app: FastifyInstance) => void {
  return (app) => {
    // Separate scope, because all other bodies are JSON.
    app.register(async (scope) => {
      await scope.register(formBody, { bodyLimit: FORM_BYTES });
      scope.get('/sandbox/account', (_request, reply) => sendPage(reply, assets, accountPage()));
      scope.get('/sandbox/confirm/:ref', async (request: ConfirmRequest, reply) => {
        const payment = await sandbox.waiting(request.params.ref);
        return sendPage(reply, assets, payment?.status === 'ACTION' ? confirmPage(payment) : endedPage());
      });
      scope.post('/sandbox/confirm/:ref', async (request: ConfirmRequest, reply) => {
        const passed = request.body?.outcome === 'complete';
        const back = await sandbox.confirm(request.params.ref, passed);
        return sendPage(reply, assets, back === null ? endedPage() : returnPage(back.returnUrl));
      });
    });
  };
}
