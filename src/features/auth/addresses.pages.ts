import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../http/assets.ts';
import { textOf } from '../../http/forms.ts';
import { type Page, sendPage } from '../../http/page.ts';
import { AppError } from '../../kernel/errors.ts';
import type { AddressChange } from './address-change.service.ts';
import { addressForm, addressOutcome, keepForm } from './addresses.views.ts';

interface Deps {
  addressChange: AddressChange;
  assets: WebAssets;
}

type FormRequest = FastifyRequest<{ Querystring: Record<string, unknown>; Body: unknown }>;

/** `/change-email` and `/keep-email`: what the two addresses are mailed when an account changes from one to the other. */
export function addressPages(app: FastifyInstance, { addressChange, assets }: Deps): void {
  app.get('/change-email', async (request: FormRequest, reply) => {
    const token = textOf(request.query, 'token');
    const isUsable = await addressChange.isUsable('CHANGE_EMAIL', token);
    return sendPage(reply, assets, isUsable ? addressForm(token) : addressOutcome('CHANGE_EMAIL', 'EXPIRED'));
  });
  app.post('/change-email', async (request: FormRequest, reply) => {
    const outcome = await addressChange.confirm(textOf(request.body, 'token'));
    return sendPage(reply, assets, addressOutcome('CHANGE_EMAIL', outcome));
  });
  app.get('/keep-email', async (request: FormRequest, reply) => {
    const token = textOf(request.query, 'token');
    const isUsable = await addressChange.isUsable('KEEP_EMAIL', token);
    return sendPage(reply, assets, isUsable ? keepForm(token) : addressOutcome('KEEP_EMAIL', 'EXPIRED'));
  });
  app.post('/keep-email', async (request: FormRequest, reply) => {
    const token = textOf(request.body, 'token');
    return sendPage(reply, assets, await keep(addressChange, token, textOf(request.body, 'password')));
  });
}

async function keep(addressChange: AddressChange, token: string, password: string): Promise<Page> {
  try {
    return addressOutcome('KEEP_EMAIL', await addressChange.takeBack(token, password));
  } catch (error) {
    if (error instanceof AppError && error.code === 'WEAK_PASSWORD') return keepForm(token, error.message);
    throw error;
  }
}
