import { Badge, Group, SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { chooseMode, useMode } from './mode.ts';

/** Live or test, always in sight. */
export function ModeSwitch() {
  const { t } = useTranslation();
  const mode = useMode();
  return (
    <Group gap="xs" wrap="nowrap">
      <SegmentedControl
        aria-label={t('mode.label')}
        value={mode}
        {...(mode === 'test' ? { color: 'orange' } : {})}
        onChange={(value) => chooseMode(value === 'test' ? 'test' : 'live')}
        data={[
          { value: 'live', label: t('mode.live') },
          { value: 'test', label: t('mode.test') },
        ]}
      />
      <span aria-live="polite">
        {mode === 'test' && (
          <Badge color="orange" variant="light" visibleFrom="md">
            {t('mode.badge')}
          </Badge>
        )}
      </span>
    </Group>
  );
}
