import type { DashboardUser, TestDashboard } from '../harness/dashboard.ts';

/**
 * Returns a path for each route with a parameter, so that `every-route.ts` can visit it: `'/keys/$keyId':
 * '/keys/key_…'`. A new route of this kind needs its resource here, created through the API.
 */
export async function samplePaths(
  dashboard: TestDashboard,
  user: DashboardUser,
): Promise<Record<string, string>> {
  const session = await dashboard.signedIn(user);
  const create = async (path: string, body: object) =>
    (await session.send('POST', path, { body })).assertOk(201).string('data.id');
  const { db, mailbox } = dashboard.app.container;
  await db.updateTable('account').set({ role: 'ADMIN' }).where('id', '=', user.id).execute();
  await db.transaction().execute((tx) =>
    mailbox.enqueue(tx, {
      kind: 'test',
      to: user.email,
      subject: 'A mail',
      text: `See ${dashboard.url}/x.`,
    }),
  );
  const [mail] = await mailbox.list();
  const productId = await create('/booking/products', { title: 'A course', type: 'COHORT', priceCents: 0 });
  const startsAt = '2100-01-01T09:00:00Z';
  const cohortId = await create(`/booking/products/${productId}/cohorts`, { startsAt });
  const streamId = await create('/streams', { title: 'Evening concert' });
  const videoId = await create('/videos', { title: 'Evening concert' });
  await create('/team/invitations', { email: 'sample@example.com', teamRole: 'EDITOR' });
  const [invitation = ''] = await dashboard.mailsTo('sample@example.com');
  return {
    '/analytics/streams/$id': `/analytics/streams/${streamId}`,
    '/analytics/videos/$id': `/analytics/videos/${videoId}`,
    '/invitations/$token': `/invitations/${/invitations\/([\w-]{43})/.exec(invitation)?.[1]}`,
    '/mailbox/$mailId': `/mailbox/${mail?.id}`,
    '/webhooks/$webhookId': `/webhooks/${await create('/me/webhooks', { url: 'https://hooks.example.com/marquee' })}`,
    '/booking/products/$id': `/booking/products/${productId}`,
    '/booking/cohorts/$id': `/booking/cohorts/${cohortId}`,
    '/live/$id': `/live/${streamId}`,
    '/rooms/$id': `/rooms/${await create('/rooms', { name: 'Monday class' })}`,
    '/videos/$id': `/videos/${videoId}`,
  };
}
