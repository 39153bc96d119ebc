import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../http/assets.ts';
import { formField } from '../../../http/forms.ts';
import { type Page, sendPage } from '../../../http/page.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { EmailChange } from './email-change.service.ts';
import { confirmEmailForm, emailChangeResult, revertEmailForm } from './email-change.views.ts';

interface Deps {
  addressChange: EmailChange;
  assets: WebAssets;
}

type FormRequest = FastifyRequest<{ Querystring: Record<string, unknown>; Body: unknown }>;

/** Serves `/change-email` and `/keep-email`, the links emailed to both addresses of a change. */
export function emailChangePages(app: FastifyInstance, { addressChange, assets }: Deps): void {
  app.get('/change-email', async (request: FormRequest, reply) => {
    const token = formField(request.query, 'token');
    const isUsable = await addressChange.isUsable('CHANGE_EMAIL', token);
    return sendPage(
      reply,
      assets,
      isUsable ? confirmEmailForm(token) : emailChangeResult('CHANGE_EMAIL', 'EXPIRED'),
    );
  });
  app.post('/change-email', async (request: FormRequest, reply) => {
    const outcome = await addressChange.confirm(formField(request.body, 'token'));
    return sendPage(reply, assets, emailChangeResult('CHANGE_EMAIL', outcome));
  });
  app.get('/keep-email', async (request: FormRequest, reply) => {
    const token = formField(request.query, 'token');
    const isUsable = await addressChange.isUsable('KEEP_EMAIL', token);
    return sendPage(
      reply,
      assets,
      isUsable ? revertEmailForm(token) : emailChangeResult('KEEP_EMAIL', 'EXPIRED'),
    );
  });
  app.post('/keep-email', async (request: FormRequest, reply) => {
    const token = formField(request.body, 'token');
    return sendPage(
      reply,
      assets,
      await revertEmail(addressChange, token, formField(request.body, 'password')),
    );
  });
}

async function revertEmail(addressChange: EmailChange, token: string, password: string): Promise<Page> {
  try {
    return emailChangeResult('KEEP_EMAIL', await addressChange.takeBack(token, password));
  } catch (error) {
    if (error instanceof AppError && error.code === 'WEAK_PASSWORD')
      return revertEmailForm(token, error.message);
    throw error;
  }
}
