import { Checkbox, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../app/api.ts';
import { TextLink } from './links.tsx';

/** Maximum number of open tiers. */
const TIERS = 100;
/** Maximum tiers of a video or stream. */
const MAX_TIERS = 20;

interface Props {
  value?: string[];
  defaultValue?: string[];
  onChange?: (value: string[]) => void;
  error?: string;
}

/** Selects the tiers whose members may watch; none means those of any tier. */
export function TierChecks(props: Props) {
  const { t } = useTranslation();
  const { data } = $api.useQuery('get', '/tiers', { params: { query: { limit: TIERS } } });
  const chosen = props.value ?? props.defaultValue ?? [];
  const tiers = (data?.data ?? []).filter(({ id, archivedAt }) => archivedAt === null || chosen.includes(id));
  if (data !== undefined && tiers.length === 0) {
    return (
      <Text size="sm">
        {t('tiers.none')}{' '}
        <TextLink to="/monetization/tiers" search={{ new: true }}>
          {t('tiers.make')}
        </TextLink>
      </Text>
    );
  }
  return (
    <Checkbox.Group
      label={t('tiers.label')}
      description={t('tiers.means')}
      maxSelectedValues={MAX_TIERS}
      {...props}
    >
      <Stack gap="xs" mt="xs">
        {tiers.map(({ id, name }) => (
          <Checkbox key={id} value={id} label={<bdi>{name}</bdi>} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
