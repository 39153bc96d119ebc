import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, startDashboard, type TestDashboard } from '../harness/dashboard.ts';
import { runTask } from '../harness/modules.ts';

const SLOW = { timeout: 30_000 };

let dashboard: TestDashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard?.close());

test('a product is created, availability is set, and it is published with bookable slots', async () => {
  const user = await dashboard.user({ name: 'Ada' });
  const session = await dashboard.signedIn(user);
  await dashboard.visit('/dashboard/booking/products', { user }, async (page) => {
    await page.getByRole('heading', { name: 'No booking products yet' }).waitFor(SLOW);
    await page.getByRole('button', { name: 'New product' }).first().click();
    await page.getByLabel('Title').fill('An hour of coaching');
    await page.getByLabel('Price in US dollars').fill('50');
    await page.getByLabel('URL slug').fill('Not Good');
    await page.getByRole('button', { name: 'Add a question' }).click();
    const question = page.getByRole('group', { name: 'Question 1' });
    await question.getByRole('textbox', { name: 'Question', exact: true }).fill('Your level');
    await question.getByLabel('Answer type').selectOption('SELECT');
    await question.getByLabel('Choices').fill('New\nOld');
    await page.getByRole('button', { name: 'Create product' }).click();
    await page.getByText(/slug must match/).waitFor(SLOW);
    await page.getByLabel('URL slug').fill('coaching');
    await page.getByRole('button', { name: 'Create product' }).click();
    await page.getByRole('heading', { level: 1, name: 'An hour of coaching' }).waitFor(SLOW);
    await page.getByText(/No slots available in the next four weeks/).waitFor(SLOW);
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Set your availability first').waitFor(SLOW);

    await page.getByRole('link', { name: 'Change availability' }).click();
    await page.getByRole('heading', { level: 1, name: 'Availability' }).waitFor(SLOW);
    await page.getByRole('button', { name: 'Add hours to Monday' }).click();
    const monday = page.getByRole('group', { name: 'Monday' });
    await monday.getByLabel('From').fill('22:00');
    await monday.getByLabel('Until').fill('00:00');
    await page.getByRole('button', { name: 'Copy Monday to Tuesday–Friday' }).click();
    await page.getByRole('button', { name: 'Add time off' }).click();
    const off = page.getByRole('group', { name: 'Time off 1' });
    await off.getByLabel('From').fill('2026-12-24');
    await off.getByLabel('Last day').fill('2026-12-20');
    await page.getByRole('button', { name: 'Save availability' }).click();
    await page.getByText('end must be after start.').waitFor(SLOW);
    await off.getByLabel('Last day').fill('2026-12-26');
    await assertAccessible(page, 'hours and time off');
    await page.getByRole('button', { name: 'Save availability' }).click();
    await page.getByText('Availability saved.').waitFor(SLOW);
    const put = (await session.send('GET', '/booking/availability')).assertOk(200);
    assert.deepEqual(put.at('data.weeklyJson.fri'), [{ start: '22:00', end: '24:00' }]);
    assert.deepEqual(put.at('data.blackoutsJson'), [{ start: '2026-12-24', end: '2026-12-26' }]);

    await page.getByRole('link', { name: 'Products', exact: true }).click();
    await page.getByRole('link', { name: 'An hour of coaching' }).click();
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('This product can be booked.').waitFor(SLOW);
    assert.match(
      await page.getByLabel('Booking link', { exact: true }).inputValue(),
      /\/book\/[^/]+\/coaching$/,
    );
    await page.getByText(/times in the next four weeks/).waitFor(SLOW);
    await assertAccessible(page, 'a published product');
  });
  const made = (await session.send('GET', '/booking/products')).assertOk(200);
  assert.deepEqual(made.at('data.0.intakeFields'), [
    { key: 'question1', label: 'Your level', type: 'SELECT', required: false, options: ['New', 'Old'] },
  ]);
});

test('an external calendar that cannot be read shows the reason and can be deleted', async () => {
  const user = await dashboard.user({ name: 'Edsger' });
  await dashboard.visit('/dashboard/booking/availability', { user }, async (page) => {
    await page.getByText('No external calendars yet').waitFor(SLOW);
    await page.getByLabel('Calendar URL').fill('https://calendar.invalid/private.ics');
    await page.getByRole('textbox', { name: 'Name' }).fill('Private');
    await page.getByRole('button', { name: 'Add calendar' }).click();
    const card = page.getByRole('article', { name: 'Private' });
    await card.getByText('Pending').waitFor(SLOW);
    await runTask(dashboard.app.container, 'external calendars');
    await page.reload();
    await card.getByText('Failed').waitFor(SLOW);
    await card.getByText(/cannot be reached/).waitFor(SLOW);
    await assertAccessible(page, 'external calendars');
    await card.getByRole('button', { name: 'Delete calendar' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete calendar' }).click();
    await page.getByText('No external calendars yet').waitFor(SLOW);
  });
});

test('a course gets a cohort with a session and a video, which is canceled', async () => {
  const user = await dashboard.user({ name: 'Grace' });
  const session = await dashboard.signedIn(user);
  const create = async (path: string, body: object) =>
    (await session.send('POST', path, { body })).assertOk(201).string('data.id');
  const product = { title: 'A course', type: 'COHORT', priceCents: 0, capacity: 8 };
  const id = await create('/booking/products', product);
  await create('/videos', { title: 'Lesson one' });
  await dashboard.visit(`/dashboard/booking/products/${id}`, { user }, async (page) => {
    await page.getByText('No cohorts yet').waitFor(SLOW);
    await page.getByRole('button', { name: 'New cohort' }).click();
    const form = page.getByRole('region', { name: 'New cohort' });
    await form.getByLabel('Name').fill('Winter');
    await form.getByLabel('Begins').fill('2099-01-12T17:00');
    await form.getByRole('button', { name: 'Add a session' }).click();
    const first = form.getByRole('group', { name: 'Session 1' });
    await first.getByLabel('Starts').fill('2099-01-12T17:00');
    await first.getByLabel('Ends').fill('2099-01-12T16:00');
    await form.getByRole('button', { name: 'Create cohort' }).click();
    await page.getByText('A session must end after it starts.').waitFor(SLOW);
    await first.getByLabel('Ends').fill('2099-01-12T18:00');
    await form.getByRole('button', { name: 'Create cohort' }).click();
    await page.getByRole('heading', { level: 1, name: 'Winter' }).waitFor(SLOW);

    const videos = page.getByRole('region', { name: 'Videos for members' });
    await videos.getByRole('combobox', { name: 'Video' }).selectOption({ label: 'Lesson one' });
    await videos.getByRole('button', { name: 'Add the video' }).click();
    await videos.getByRole('link', { name: 'Lesson one' }).waitFor(SLOW);
    await assertAccessible(page, 'a cohort');

    const settings = page.getByRole('region', { name: 'Settings' });
    await settings.getByLabel('Seats').fill('4');
    await settings.getByRole('button', { name: 'Save cohort' }).click();
    await page.getByText('Cohort saved.').first().waitFor(SLOW);
    await page.getByText('0 of 4').waitFor(SLOW);
    await page.getByRole('button', { name: 'Cancel the cohort' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel the cohort?' });
    await dialog.getByRole('button', { name: 'Cancel the cohort' }).click();
    await page.getByRole('main').getByText('Canceled').first().waitFor(SLOW);
  });
});

test('a booking is moved and canceled', async () => {
  const user = await dashboard.user({ name: 'Mary' });
  const session = await dashboard.signedIn(user);
  const send = async (method: string, path: string, body: object) =>
    await session.send(method, path, { body });
  const product = { title: 'A free hour', type: 'ONE_TO_ONE', priceCents: 0 };
  const productId = (await send('POST', '/booking/products', product)).assertOk(201).string('data.id');
  const all = [{ start: '00:00', end: '24:00' }];
  const weeklyJson = { mon: all, tue: all, wed: all, thu: all, fri: all, sat: all, sun: all };
  (await send('PUT', '/booking/availability', { weeklyJson })).assertOk(200);
  (await send('POST', `/booking/products/${productId}/publish`, {})).assertOk(200);
  const path = `/booking/products/${productId}/slots`;
  const startsAt = (await session.send('GET', path)).assertOk(200).string('data.slots.5.startsAt');
  const back = { successUrl: dashboard.url, cancelUrl: dashboard.url };
  const customer = { name: 'Emmy Noether', email: 'emmy@example.com' };
  (await send('POST', '/checkout/booking', { productId, startsAt, customer, ...back })).assertOk(201);
  await dashboard.visit('/dashboard/booking', { user }, async (page) => {
    await page.getByRole('link', { name: 'Emmy Noether' }).click();
    const move = page.getByRole('region', { name: 'Reschedule' });
    await move.getByLabel('New time').selectOption({ index: 3 });
    await move.getByRole('button', { name: 'Reschedule' }).click();
    await page.getByText('Booking rescheduled.').waitFor(SLOW);
    await assertAccessible(page, 'a booking');
    await page.getByLabel('Reason (sent to the customer)').fill('I am ill.');
    await page.getByRole('button', { name: 'Cancel booking' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel the booking of Emmy Noether?' });
    await dialog.getByRole('button', { name: 'Cancel booking' }).click();
    await page.getByText('I am ill.').waitFor(SLOW);
  });
  const row = (await session.send('GET', '/booking/bookings')).assertOk(200);
  assert.deepEqual([row.at('data.0.status'), row.at('data.0.canceledBy')], ['CANCELED', 'CREATOR']);
  assert.equal(row.at('data.0.rescheduledFrom'), startsAt);
});
