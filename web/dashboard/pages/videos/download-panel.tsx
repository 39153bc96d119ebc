import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { showError } from '../../app/toasts.ts';
import { ownPath } from '../../components/addresses.ts';
import { Panel } from '../../components/panel.tsx';

const ORIGINAL = 'original';

/** Offers the original file and its renditions for download. */
export function DownloadPanel({ video: { id, sizeBytes, renditions } }: { video: Shape<'Video'> }) {
  const { t } = useTranslation('videos');
  // The size of the original is known once it is stored.
  const names = [...(sizeBytes === null ? [] : [ORIGINAL]), ...renditions.map(({ name }) => name)];
  if (names.length === 0) return null;
  return (
    <Panel title={t('download.title')}>
      <Text size="sm" c="dimmed">
        {t('download.text')}
      </Text>
      <Group>
        {names.map((name) => (
          <DownloadButton key={name} id={id} name={name} />
        ))}
      </Group>
    </Panel>
  );
}

function DownloadButton({ id, name }: { id: string; name: string }) {
  const { t } = useTranslation('videos');
  const [isPending, setPending] = useState(false);
  const save = async () => {
    setPending(true);
    try {
      const params = { path: { id }, query: { rendition: name } };
      const { data } = await api.GET('/videos/{id}/download', { params });
      if (data !== undefined) follow(ownPath(data.data.url), data.data.filename);
    } catch (error) {
      showError(error);
    } finally {
      setPending(false);
    }
  };
  return (
    <Button variant="default" loading={isPending} onClick={() => void save()}>
      {name === ORIGINAL ? t('download.original') : name}
    </Button>
  );
}

/** Downloads a file without leaving the page. */
function follow(address: string, filename: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = filename;
  link.click();
}
