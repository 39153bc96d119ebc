/**
 * Settles a payment in a separate process, which is killed after the provider's response, before the result
 * is stored.
 */
import { createPayments } from '../../src/features/commerce/payments/service.ts';
import { createContainer } from '../../src/main/container.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { SECRET_KEY } from '../harness/app.ts';
import { TestClock } from '../harness/clock.ts';

const [databaseUrl = '', dataDir = '', paymentId = '', now = ''] = process.argv.slice(2);
const config = loadConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'silent' });
const container = await createContainer({ config, databaseUrl, secretKey: SECRET_KEY, name: 'node' });
const { sandbox } = container;
const payments = createPayments({
  ...container,
  clock: new TestClock(now),
  providers: {
    SANDBOX: {
      ...sandbox,
      async charge(request) {
        const answer = await sandbox.charge(request);
        process.send?.(answer.status);
        return new Promise(() => {});
      },
    },
    STRIPE: null,
  },
  takers: { account: () => Promise.resolve(), card: () => Promise.resolve() },
});
process.on('disconnect', () => process.exit(0));
await payments.settle(paymentId);
