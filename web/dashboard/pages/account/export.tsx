import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { Loaded } from '../../components/loaded.tsx';

/** Requests the data export. The last one is fetched on demand, because that may require the password. */
export function Export() {
  const { t } = useTranslation('account');
  const [isShown, show] = useState(false);
  const make = $api.useMutation('post', '/me/export', {
    onSuccess: () => {
      show(true);
      return queries.invalidateQueries({ queryKey: ['get', '/me/export'] });
    },
  });
  return (
    <Stack>
      <Text>{t('export.text')}</Text>
      {isShown && <Last />}
      <Group>
        <Button onClick={() => make.mutate({})} loading={make.isPending}>
          {t('export.make')}
        </Button>
        {!isShown && (
          <Button variant="default" onClick={() => show(true)}>
            {t('export.look')}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

const AGAIN_MS = 5000;

function Last() {
  const last = $api.useQuery(
    'get',
    '/me/export',
    {},
    {
      refetchInterval: ({ state }) => (state.data?.data.status === 'PENDING' ? AGAIN_MS : false),
    },
  );
  return <Loaded query={last}>{({ data }) => <State archive={data} />}</Loaded>;
}

function State({ archive: { status, url } }: { archive: Shape<'AccountExport'> }) {
  const { t } = useTranslation('account');
  if (url !== null) return <Anchor href={url}>{t('export.ready')}</Anchor>;
  if (status === 'FAILED') return <Alert color="red">{t('export.failed')}</Alert>;
  return (
    <Alert color="blue" role="status">
      {t('export.pending')}
    </Alert>
  );
}
