import { after, before, test } from 'node:test';
import { bookingClient } from '../../../../test/booking/booking-client.ts';
import { runConcurrently } from '../../../../test/booking/races.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';

let app: TestApp;
before(async () => {
  app = await startTestApp({ clock: new TestClock(Date.UTC(2027, 2, 1, 8)) });
});
after(() => app.close());

const { creator, cohort } = bookingClient(() => app);
const { raceForSeat, raceForTime } = runConcurrently(() => app);

test('one of 100 concurrent buyers gets the last seat of a class, and only that one is charged', async () => {
  const class_ = { type: 'LIVE_CLASS', capacity: 1 };
  await raceForSeat(await creator(), class_, { startsAt: '2027-03-03T08:00:00.000Z' }, 100);
});

test('one of 100 concurrent buyers gets the last seat of a cohort', async () => {
  const of = await creator();
  const where = await cohort(of, { startsAt: '2027-03-10T08:00:00.000Z', capacity: 1 });
  await raceForSeat(of, {}, where, 100);
});

test('one of 100 concurrent buyers gets one time of a creator, across products', async () => {
  await raceForTime(await creator(), '2027-03-03T08:00:00.000Z', 100);
});
