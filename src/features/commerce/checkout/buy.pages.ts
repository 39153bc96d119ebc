import formBody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../http/assets.ts';
import { formField, rejectCrossSite, sendFailure } from '../../../http/forms.ts';
import { limitByIp } from '../../../http/plugins/limits.ts';
import type { RequestCounters } from '../../../http/ports.ts';
import type { Limit } from '../../../http/route.ts';
import type { Mode } from '../../../kernel/access.ts';
import { notFound } from '../../../kernel/errors.ts';
import { errorPage } from './checkout.views.ts';
import type { Checkouts } from './service.ts';

/** A video or stream whose watch page shows a price. */
export interface PurchasableItem {
  workspaceId: string;
  mode: Mode;
  visibility: string;
  /** Tiers whose members may watch; empty for members of any tier. */
  tierIds: readonly string[];
}

interface Deps {
  checkouts: Pick<Checkouts, 'createForTier' | 'createForVideo'>;
  /** Finds the item of a watch page; undefined where there is none that is publicly visible. */
  offeredAt(id: string): Promise<PurchasableItem | undefined>;
  assets: WebAssets;
  counters: Pick<RequestCounters, 'window'>;
  /** URL without a trailing slash. */
  publicUrl: string;
}

type Asked = FastifyRequest<{ Params: { id: string }; Body: unknown }>;

const FORM_BYTES = 4096;
const TRIES: Limit = { bucket: 'buy', per: 'ip', max: 60, windowSec: 600, refusal: 'RATE_LIMITED' };

/**
 * Registers `POST /watch/:id/buy`, the form of a watch page: creates a checkout for the offered item and
 * redirects to its page (docs/guides/money.md#the-watch-page). After payment or cancellation the buyer
 * returns to the watch page.
 */
export function buyPages(deps: Deps): (app: FastifyInstance) => void {
  return (app) => {
    // Separate scope, because all other bodies are JSON.
    app.register(async (scope) => {
      await scope.register(formBody, { bodyLimit: FORM_BYTES });
      scope.addHook('preHandler', rejectCrossSite);
      scope.setErrorHandler((error, _request, reply) => sendFailure(deps.assets, error, reply, errorPage));
      scope.post('/watch/:id/buy', (request: Asked, reply) => buy(deps, request, reply));
    });
  };
}

async function buy(deps: Deps, { params, body, ip }: Asked, reply: FastifyReply): Promise<FastifyReply> {
  await limitByIp({ counters: deps.counters }, TRIES, ip);
  const offered = await deps.offeredAt(params.id);
  if (offered === undefined) throw notFound();
  const { workspaceId, mode, visibility, tierIds } = offered;
  const page = `${deps.publicUrl}/watch/${params.id}`;
  const addresses = { successUrl: page, cancelUrl: page };
  const tierId = formField(body, 'tier');
  const caller = { workspaceId, mode };
  const isOffered = visibility === 'TIER' ? tierIds.length === 0 || tierIds.includes(tierId) : tierId === '';
  if (!isOffered) throw notFound();
  const { id } =
    visibility === 'TIER'
      ? await deps.checkouts.createForTier(caller, { ...addresses, tierId }, null)
      : await deps.checkouts.createForVideo(caller, { ...addresses, videoId: params.id });
  return reply.header('Cache-Control', 'no-store').redirect(`/checkout/${id}`, 303);
}
