import { Loader, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { BASE_URL } from '../../app/request.ts';
import { CodeLine } from '../../components/copy-field.tsx';
import { CheckIcon } from '../../components/icons.tsx';

const LOOK_MS = 2000;

/** The first call of a new key, ready to be pasted, and whether it has arrived. */
export function FirstCall({ keyId, secret }: { keyId: string; secret: string }) {
  const { t } = useTranslation('keys');
  const key = $api.useQuery(
    'get',
    '/me/api-keys/{id}',
    { params: { path: { id: keyId } } },
    { refetchInterval: ({ state }) => (state.data?.data.lastUsedAt ? false : LOOK_MS) },
  );
  const hasArrived = Boolean(key.data?.data.lastUsedAt);
  const line = `curl -s ${window.location.origin}${BASE_URL}/me \\\n  -H "Authorization: Bearer ${secret}"`;
  return (
    <Stack>
      <CodeLine label={t('first.try')} code={line} />
      <Text role="status" component="div">
        {hasArrived ? (
          <>
            <CheckIcon /> {t('first.arrived')}
          </>
        ) : (
          <>
            <Loader size="xs" type="dots" aria-hidden /> {t('first.waiting')}
          </>
        )}
      </Text>
    </Stack>
  );
}
