import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import ts from 'typescript';
import {
  assertAccessible,
  assertFits,
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

let dashboard: TestDashboard;
let user: DashboardUser;
/** Whose address is not verified yet. */
let newcomer: DashboardUser;
let paths: Record<string, string>;

before(async () => {
  dashboard = await startDashboard();
  user = await dashboard.user({ name: 'Ada Lovelace' });
  newcomer = await dashboard.user({ isVerified: false });
  paths = await samplePaths(dashboard, user);
});
after(() => dashboard?.close());

const routes = declaredRoutes();
const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

test('the routes of the areas are found', () => {
  const found = routes.map(({ path }) => path);
  for (const path of ['/', '/limits', '/sign-in', '/sign-up']) assert.ok(found.includes(path), path);
});

for (const { path, needsSession } of routes) {
  test(`${path}: fits, and no violation in either scheme at 390 px`, async () => {
    const address = path.includes('$') ? paths[path] : path;
    assert.ok(address !== undefined, `test/dashboard/sample-paths.ts has an address for ${path}`);
    const visitor = path === '/check-mail' ? { user: newcomer } : needsSession ? { user } : {};
    await dashboard.visit(`/dashboard${address}`, visitor, async (page) => {
      await page.setViewportSize(WIDE);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
      assert.doesNotMatch(await page.title(), /not found|cannot be shown/i);
      await assertFits(page, `${address}, ${WIDE.width} px`);
      await page.setViewportSize(PHONE);
      await assertAccessible(page, `${address}, ${PHONE.width} px`);
      // The scheme changes colours and nothing else.
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.locator('html[data-mantine-color-scheme=dark]').waitFor({ state: 'attached' });
      await assertAccessible(page, `${address}, dark`, ['color-contrast']);
    });
  });
}
