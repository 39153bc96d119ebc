import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

type Violation = Awaited<ReturnType<AxeBuilder['analyze']>>['violations'][number];

/**
 * Returns the accessibility violations of the page, one line each.
 *
 * @param rules of axe; all by default.
 */
export async function violationsOf(page: Page, rules?: string[]): Promise<string[]> {
  // To send axe itself to the page, a megabyte, takes as long as some of its rules.
  const found = page.frames().map((frame) => frame.evaluate<boolean>('"axe" in window'));
  const isThere = (await Promise.all(found)).every(Boolean);
  // The page has no cross-origin frames, and no second page has to be opened for the result.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  const options = { resultTypes: ['violations'], ...(rules === undefined ? {} : { runOnly: rules }) };
  const violations = isThere
    ? await page.evaluate<Violation[]>(
        `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
      )
    : (await (rules === undefined ? axe : axe.withRules(rules)).analyze()).violations;
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('; ')}`,
  );
}

/** Returns the violations in the dark scheme, which changes only colors; the page stays in it. */
export async function violationsInDarkScheme(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' });
  await transitionsEnd(page);
  return violationsOf(page, ['color-contrast']);
}

/**
 * Waits until CSS transitions end, so that no intermediate color is checked: some run even with reduced
 * motion.
 */
export async function transitionsEnd(page: Page): Promise<void> {
  await page.evaluate(TRANSITIONS_END);
}

const TRANSITIONS_END = `Promise.allSettled(
  document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished),
).then(() => {})`;
