import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import ts from 'typescript';
import {
  assertNoOverflow,
  type DashboardUser,
  startDashboard,
  type TestDashboard,
} from '../harness/dashboard.ts';
import { samplePaths } from './sample-paths.ts';

const DASHBOARD = join(import.meta.dirname, '../../web/dashboard');

interface RouteFound {
  /** `/keys/$keyId` */
  path: string;
  needsSession: boolean;
}

/** Every route of every area, as its `index.ts` declares it. */
function declaredRoutes(): RouteFound[] {
  return globSync('pages/*/index.{ts,tsx}', { cwd: DASHBOARD }).flatMap((file) =>
    routesIn(join(DASHBOARD, file)),
  );
}

function routesIn(file: string): RouteFound[] {
  const tree = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const known = new Map<string, RouteFound>([
    ['workspaceRoute', { path: '', needsSession: true }],
    ['publicRoute', { path: '', needsSession: false }],
  ]);
  const found: RouteFound[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.initializer?.getText().startsWith('createRoute(')) {
      const text = node.initializer.getText();
      const parent = known.get(/getParentRoute: \(\) => (\w+)/.exec(text)?.[1] ?? '');
      const path = /^\s*path: '([^']*)'/m.exec(text)?.[1];
      assert.ok(
        parent !== undefined && path !== undefined,
        `${file}: ${node.name.getText()} has a parent and a path`,
      );
      const route = { ...parent, path: `${parent.path}/${path.replace(/^[/]|[/]$/g, '')}` };
      known.set(node.name.getText(), route);
      found.push(route);
    }
    node.forEachChild(visit);
  };
  visit(tree);
  return found;
}

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

/** Navigates like a link: reloading all scripts for each path would take most of the time. */
async function goTo(page: Page, address: string): Promise<void> {
  const heading = page.locator('h1:not([data-is-left])');
  await heading.waitFor();
  if (new URL(page.url()).pathname !== `/dashboard${address}`) {
    // An expression: a function in a string is never called.
    await page.evaluate('document.querySelectorAll("h1").forEach((h1) => { h1.dataset.isLeft = ""; })');
    await page.evaluate(`history.pushState({}, '', ${JSON.stringify(`/dashboard${address}`)})`);
    await heading.waitFor();
  }
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
}

const isForNewcomers = ({ path }: RouteFound) => path === '/check-mail';

/**
 * Defines a test for each route of the dashboard: it exists, fits wide windows, and is inspected at the size
 * of a phone.
 *
 * @param look throws if the page has a problem.
 */
export function testEveryRoute(look: (page: Page, about: string) => Promise<void>): void {
  const routes = declaredRoutes();
  let dashboard: TestDashboard;
  let user: DashboardUser;
  /** User with an unverified email. */
  let newcomer: DashboardUser;
  let paths: Record<string, string>;

  before(async () => {
    dashboard = await startDashboard();
    user = await dashboard.user({ name: 'Ada Lovelace' });
    newcomer = await dashboard.user({ isVerified: false });
    paths = await samplePaths(dashboard, user);
  });
  after(() => dashboard?.close());

  test('the routes of the areas are found', () => {
    const found = routes.map(({ path }) => path);
    for (const path of ['/', '/limits', '/sign-in', '/sign-up']) assert.ok(found.includes(path), path);
  });

  const ofUsers = routes.filter(({ needsSession }) => needsSession);
  /** Split in two, because tests that take minutes on a busy machine are ended. */
  const half = Math.ceil(ofUsers.length / 2);
  const visitors = [
    { who: 'a user', visitor: () => ({ user }), has: ofUsers.slice(0, half) },
    { who: 'a user (the rest)', visitor: () => ({ user }), has: ofUsers.slice(half) },
    { who: 'a newcomer', visitor: () => ({ user: newcomer }), has: routes.filter(isForNewcomers) },
    {
      who: 'nobody',
      visitor: () => ({}),
      has: routes.filter((route) => !route.needsSession && !isForNewcomers(route)),
    },
  ];

  for (const { who, visitor, has } of visitors) {
    test(`every route for ${who} fits, and has no violation at 390 px`, async (t) => {
      const addresses = has.map(({ path }) => (path.includes('$') ? paths[path] : path));
      await dashboard.visit(`/dashboard${addresses.at(-1)}`, visitor(), async (page) => {
        for (const [index, address] of addresses.entries()) {
          const path = has[index]?.path;
          await t.test(`${path}`, async () => {
            assert.ok(address !== undefined, `test/dashboard/sample-paths.ts has an address for ${path}`);
            await page.emulateMedia({ colorScheme: 'light' });
            await page.setViewportSize(WIDE);
            await goTo(page, address);
            assert.doesNotMatch(await page.title(), /not found|cannot be shown/i);
            await assertNoOverflow(page, `${address}, ${WIDE.width} px`);
            await page.setViewportSize(PHONE);
            await look(page, `${address}, ${PHONE.width} px`);
          });
        }
      });
    });
  }
}
