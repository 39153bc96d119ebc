import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type Call, type Params, readCall } from './form-request.ts';
import {
  isThing,
  missing,
  nested,
  OUT_OF_ORDER,
  ok,
  REUSED,
  type Reply,
  random,
  refused,
  type Thing,
  text,
} from './stripe-replies.ts';

/**
 * Fake of the part of Stripe that the platform uses, with the necessary state: requests with the same
 * idempotency key act once, a session is open until it is paid, a refund cannot exceed the charge. Shapes as
 * in https://docs.stripe.com/api; the tests with stripe-mock check parameters against Stripe's own
 * description.
 */
export interface StripeServer {
  url: string;
  webhookSecret: string;
  calls: Call[];
  /** Faults of the next requests: `lost` and `late` perform the request, but the response never arrives. */
  faults: ('none' | 'error' | 'refuse' | 'lost' | 'late')[];
  /** A buyer on the page of a session. */
  pay(sessionId: string, how?: 'paid' | 'declined' | 'expired'): void;
  /** Result of an off-session charge to the saved card. */
  cardAnswers: 'ok' | 'card_declined' | 'insufficient_funds' | 'authentication_required' | 'expired_card';
  dispute(paymentIntent: string, status: string, id?: string): string;
  /** An account that its creator has completed. */
  completeAccount(): string;
  payout(account: string, status: string, amount: number): string;
  /** Refunds a payment in Stripe's dashboard. @param isBorne the transfer is not reversed. */
  refundThere(paymentIntent: string, amount: number, isBorne?: boolean): string;
  /** Available balance of an account, in cents. */
  available: number;
  /** Whether transfers to creators' accounts cannot be reversed. */
  cannotReverse: boolean;
  object(id: string): Thing;
  /** A signed event, ready to be sent. */
  event(type: string, objectId: string, account?: string): { body: string; signature: string };
  close(): Promise<void>;
}

export async function startStripeServer(nowMs: () => number): Promise<StripeServer> {
  const stripe = new FakeStripe(nowMs);
  const server = createServer((request, response) => {
    void readCall(request).then((call) => {
      const fault = stripe.faults.shift();
      const { status, body } = fault === 'error' || fault === 'refuse' ? OUT_OF_ORDER : stripe.answer(call);
      if (fault === 'refuse' || fault === 'lost') return request.socket.destroy();
      if (fault === 'late') return;
      response.writeHead(status, { 'content-type': 'application/json', 'request-id': `req_${random()}` });
      return response.end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  stripe.url = `http://127.0.0.1:${address.port}`;
  stripe.close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return stripe;
}

class FakeStripe implements StripeServer {
  url = '';
  webhookSecret = `whsec_${random()}`;
  calls: Call[] = [];
  faults: StripeServer['faults'] = [];
  cardAnswers: StripeServer['cardAnswers'] = 'ok';
  available = 0;
  cannotReverse = false;
  close: () => Promise<void> = async () => {};
  readonly #objects = new Map<string, Thing>();
  readonly #answered = new Map<string, { asked: string; reply: Reply }>();
  readonly #told: Thing[] = [];
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  answer(call: Call): Reply {
    this.calls.push(call);
    const asked = JSON.stringify([call.path, call.params]);
    const before = call.idempotencyKey === null ? undefined : this.#answered.get(call.idempotencyKey);
    if (before !== undefined) return before.asked === asked ? before.reply : REUSED;
    const reply = this.#do(call);
    if (call.idempotencyKey !== null) this.#answered.set(call.idempotencyKey, { asked, reply });
    return reply;
  }

  #do(call: Call): Reply {
    const { method, path } = call;
    const [, noun = '', id, verb] =
      /^\/v1\/((?:checkout\/)?[a-z_]+)(?:\/([^/]+))?(?:\/([a-z_]+))?$/.exec(path) ?? [];
    if (method === 'GET' && id === 'search') return this.#search(noun, call.params);
    if (method === 'DELETE') return this.#delete(id ?? '');
    if (path === '/v1/balance') {
      return ok({ object: 'balance', available: [{ currency: 'usd', amount: this.available }], pending: [] });
    }
    if (method === 'GET' && id === undefined) return this.#list(noun, call);
    if (method === 'GET') return this.#get(id ?? '', call.params);
    if (verb === 'expire') return this.#expire(id ?? '');
    if (verb === 'reversals') return this.#reverse(this.object(id ?? ''), call.params);
    if (verb === 'login_links')
      return ok({ object: 'login_link', created: this.#now(), url: `${this.url}/express` });
    const make = this.#makers[noun];
    return make === undefined ? missing(path) : make(call.params, call);
  }

  readonly #makers: Record<string, ((params: Params, call: Call) => Reply) | undefined> = {
    customers: ({ email, metadata }) => this.#add('cus', { object: 'customer', email, metadata }),
    'checkout/sessions': (params) => this.#session(params),
    payment_intents: (params) => this.#charge(params),
    refunds: (params) => this.#refund(params),
    payouts: ({ amount, metadata }, { account }) => {
      const cents = Number(text(amount));
      if (cents > this.available) return refused('balance_insufficient', 'You have insufficient funds.');
      this.available -= cents;
      const made = this.payout(account ?? '', 'pending', cents);
      return ok(Object.assign(this.object(made), { metadata }));
    },
    accounts: ({ email, metadata }) =>
      this.#add('acct', {
        object: 'account',
        email,
        metadata,
        country: 'US',
        charges_enabled: false,
        payouts_enabled: false,
        details_submitted: false,
        requirements: { currently_due: ['external_account'] },
      }),
    account_links: ({ account }) =>
      ok({
        object: 'account_link',
        url: `${this.url}/onboarding/${text(account)}`,
        expires_at: this.#now() + 300,
      }),
  };

  #session(params: Params): Reply {
    const { mode, customer, metadata, payment_intent_data: data } = params;
    const of = nested(data);
    const made = this.#add('cs', { object: 'checkout.session', mode, customer, metadata, status: 'open' });
    const id = text(made.body.id);
    const line = nested(nested(params.line_items)['0']);
    const amount = Number(text(nested(line.price_data).unit_amount ?? '0'));
    const intent =
      mode === 'setup'
        ? null
        : this.#intent({ ...of, customer: customer ?? '' }, { amount, status: 'requires_payment_method' });
    const setup =
      mode === 'setup'
        ? text(this.#add('seti', { object: 'setup_intent', payment_method: null }).body.id)
        : null;
    return ok(
      Object.assign(this.object(id), {
        payment_status: 'unpaid',
        url: `${this.url}/pay/${id}`,
        payment_intent: intent,
        setup_intent: setup,
      }),
    );
  }

  #intent(params: Params, rest: Thing): string {
    const {
      customer,
      description,
      metadata = {},
      transfer_data: transfer,
      application_fee_amount: fee,
    } = params;
    const passed = this.#add('tr', { object: 'transfer', reversals: { object: 'list', data: [] } });
    const charge = this.#add('ch', { object: 'charge', transfer: transfer && passed.body.id });
    const made = this.#add('pi', {
      latest_charge: charge.body.id,
      object: 'payment_intent',
      currency: 'usd',
      customer,
      description,
      metadata,
      transfer_data: transfer ?? null,
      application_fee_amount: fee === undefined ? null : Number(text(fee)),
      payment_method: null,
      last_payment_error: null,
      refunded: 0,
      ...rest,
    });
    return text(made.body.id);
  }

  #charge(params: Params): Reply {
    const amount = Number(text(params.amount ?? ''));
    const id = this.#intent(params, {
      amount,
      payment_method: params.payment_method,
      status: 'succeeded',
    });
    if (this.cardAnswers === 'ok') return this.#get(id, params);
    const needsPerson = this.cardAnswers === 'authentication_required';
    const isPlain = this.cardAnswers === 'card_declined' || this.cardAnswers === 'insufficient_funds';
    const error = {
      type: 'card_error',
      code: isPlain ? 'card_declined' : this.cardAnswers,
      decline_code: isPlain || needsPerson ? this.cardAnswers : null,
      message: 'Your card was declined.',
    };
    const intent = Object.assign(this.object(id), {
      status: 'requires_payment_method',
      last_payment_error: error,
    });
    return { status: 402, body: { error: { ...error, payment_intent: intent } } };
  }

  #reverse(transfer: Thing, { amount, metadata }: Params): Reply {
    if (this.cannotReverse) return refused('insufficient_funds', 'The account has too little money.');
    const made = {
      id: `trr_${random()}`,
      object: 'transfer_reversal',
      amount: Number(text(amount)),
      metadata,
    };
    Object.assign(transfer, { reversals: { object: 'list', data: [made] } });
    return ok(made);
  }

  #refund(params: Params): Reply {
    const intent = this.object(text(params.payment_intent));
    const amount = Number(text(params.amount ?? ''));
    const before = Number(intent.refunded);
    if (before + amount > Number(intent.amount)) {
      return refused('charge_already_refunded', 'Refund amount is greater than unrefunded amount on charge.');
    }
    if (params.refund_application_fee === 'true' && intent.application_fee_amount === null) {
      return refused('parameter_invalid_empty', 'This charge has no application fee to refund.');
    }
    Object.assign(intent, { refunded: before + amount });
    const { metadata = {} } = params;
    return this.#add('re', {
      object: 'refund',
      amount,
      payment_intent: intent.id,
      metadata,
      status: 'succeeded',
      transfer_reversal: params.reverse_transfer === 'true' ? `trr_${random()}` : null,
    });
  }

  #expire(id: string): Reply {
    const session = this.object(id);
    if (session.status !== 'open') return refused('session_not_open', 'Only open sessions can be expired.');
    return ok(Object.assign(session, { status: 'expired', url: null }));
  }

  #delete(id: string): Reply {
    return this.#objects.delete(id) ? ok({ id, deleted: true }) : missing(id);
  }

  #search(noun: string, { query }: Params): Reply {
    const [, name = '', value] = /^metadata\['(\w+)'\]:'([^']*)'$/.exec(text(query ?? '')) ?? [];
    const found = [...this.#objects.values()].filter(
      ({ object, metadata }) => `${object}s` === noun && isThing(metadata) && metadata[name] === value,
    );
    return ok({ object: 'search_result', has_more: false, data: found });
  }

  #list(noun: string, { params, account }: Call): Reply {
    const since = Number(nested(params.created).gte ?? 0);
    const data =
      noun === 'events'
        ? this.#told
        : [...this.#objects.values()].filter((one) => one.object === 'payout' && one.account === account);
    if (noun !== 'events' && noun !== 'payouts') return this.#listOf(noun, params);
    const recent = data.filter(({ created }) => Number(created) >= since);
    return ok({ object: 'list', has_more: false, url: `/v1/${noun}`, data: recent });
  }

  #listOf(noun: string, { payment_intent: intent }: Params): Reply {
    const kind = noun === 'checkout/sessions' ? 'checkout.session' : noun;
    const found = [...this.#objects.values()].filter(
      ({ object, payment_intent: of }) => object === kind && (intent === undefined || of === intent),
    );
    return ok({ object: 'list', has_more: false, url: `/v1/${noun}`, data: found });
  }

  #get(id: string, { expand }: Params): Reply {
    const found = this.#objects.get(id);
    if (found === undefined) return missing(id);
    const copy = structuredClone(found);
    for (const path of Object.values(nested(expand))) this.#expandIn(copy, text(path).split('.'));
    return ok(copy);
  }

  #expandIn(thing: Thing, [member = '', ...rest]: string[]): void {
    const ref = thing[member];
    if (typeof ref !== 'string') return;
    const whole = structuredClone(this.#objects.get(ref) ?? { id: ref });
    thing[member] = whole;
    if (rest.length > 0) this.#expandIn(whole, rest);
  }

  pay(sessionId: string, how: 'paid' | 'declined' | 'expired' = 'paid'): void {
    const session = this.object(sessionId);
    const { payment_intent: intent, setup_intent: setup } = session;
    if (how === 'expired') Object.assign(session, { status: 'expired', url: null });
    if (how === 'declined') {
      const error = { type: 'card_error', code: 'card_declined', decline_code: 'generic_decline' };
      Object.assign(this.object(text(intent)), { last_payment_error: error });
    }
    if (how !== 'paid') return;
    const card = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2030 };
    const method = text(this.#add('pm', { object: 'payment_method', type: 'card', card }).body.id);
    Object.assign(session, { status: 'complete', payment_status: 'paid', url: null });
    const paid = typeof intent === 'string' ? intent : text(setup);
    Object.assign(this.object(paid), { status: 'succeeded', payment_method: method });
  }

  completeAccount(): string {
    const rest = { object: 'account', country: 'US', requirements: { currently_due: [] } };
    const may = { charges_enabled: true, payouts_enabled: true, details_submitted: true };
    return text(this.#add('acct', { ...rest, ...may }).body.id);
  }

  dispute(paymentIntent: string, status: string, id?: string): string {
    if (id !== undefined) {
      Object.assign(this.object(id), { status });
      return id;
    }
    const { amount } = this.object(paymentIntent);
    const rest = { object: 'dispute', amount, payment_intent: paymentIntent, reason: 'fraudulent', status };
    return text(this.#add('dp', rest).body.id);
  }

  payout(account: string, status: string, amount: number): string {
    const shown = { object: 'payout', amount, currency: 'usd', status, failure_code: null };
    return text(this.#add('po', { ...shown, arrival_date: this.#now(), account }).body.id);
  }

  refundThere(paymentIntent: string, amount: number, isBorne = false): string {
    const params = { payment_intent: paymentIntent, amount: String(amount) };
    return text(this.#refund(isBorne ? params : { ...params, reverse_transfer: 'true' }).body.id);
  }

  object(id: string): Thing {
    const found = this.#objects.get(id);
    if (found === undefined) throw new Error(`no object ${id}`);
    return found;
  }

  event(type: string, objectId: string, account?: string): { body: string; signature: string } {
    const event = {
      id: `evt_${random()}`,
      object: 'event',
      type,
      created: this.#now(),
      data: { object: this.object(objectId) },
    };
    this.#told.unshift(event);
    const body = JSON.stringify(account === undefined ? event : { ...event, account });
    const at = this.#now();
    const sum = createHmac('sha256', this.webhookSecret).update(`${at}.${body}`).digest('hex');
    return { body, signature: `t=${at},v1=${sum}` };
  }

  #add(prefix: string, rest: Thing): Reply {
    const id = `${prefix}_${random()}`;
    const thing = { id, created: this.#now(), livemode: false, ...rest };
    this.#objects.set(id, thing);
    return ok(thing);
  }

  #now(): number {
    return Math.floor(this.#nowMs() / 1000);
  }
}
