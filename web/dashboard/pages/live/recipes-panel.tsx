import { Accordion, Group, List, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Panel } from '../../components/panel.tsx';
import { useKeyShown } from './key-shown.ts';

const MASK = '•'.repeat(12);

/** Shows how to configure common encoders with the values of this stream. */
export function RecipesPanel({ stream }: { stream: Shape<'Stream'> }) {
  const { t } = useTranslation('live');
  const seconds = stream.latencyMode === 'LOW' ? 1 : 2;
  return (
    <Panel title={t('recipes.title')}>
      <Text size="sm">{t('recipes.settings', { seconds })}</Text>
      <Accordion order={3} variant="separated">
        <Accordion.Item value="obs">
          <Accordion.Control>{t('recipes.obs')}</Accordion.Control>
          <Accordion.Panel>
            <List type="ordered" spacing="xs">
              <List.Item>{t('recipes.obsStream')}</List.Item>
              <List.Item>{t('recipes.obsServer')}</List.Item>
              <List.Item>{t('recipes.obsOutput', { seconds })}</List.Item>
              <List.Item>{t('recipes.obsStart')}</List.Item>
            </List>
          </Accordion.Panel>
        </Accordion.Item>
        <Accordion.Item value="ffmpeg">
          <Accordion.Control>{t('recipes.ffmpeg')}</Accordion.Control>
          <Accordion.Panel>
            <FfmpegLine stream={stream} seconds={seconds} />
          </Accordion.Panel>
        </Accordion.Item>
        <Accordion.Item value="streamlabs">
          <Accordion.Control>{t('recipes.streamlabs')}</Accordion.Control>
          <Accordion.Panel>
            <List type="ordered" spacing="xs">
              <List.Item>{t('recipes.streamlabsStream')}</List.Item>
              <List.Item>{t('recipes.streamlabsOutput', { seconds })}</List.Item>
            </List>
          </Accordion.Panel>
        </Accordion.Item>
        <Accordion.Item value="phone">
          <Accordion.Control>{t('recipes.phone')}</Accordion.Control>
          <Accordion.Panel>
            <List type="ordered" spacing="xs">
              <List.Item>{t('recipes.phoneConnection')}</List.Item>
              <List.Item>{t('recipes.phoneVideo', { seconds })}</List.Item>
            </List>
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </Panel>
  );
}

function FfmpegLine({ stream, seconds }: { stream: Shape<'Stream'>; seconds: number }) {
  const { t } = useTranslation('live');
  const [isShown] = useKeyShown(stream.id);
  const key = stream.streamKey ?? '';
  const line = ffmpegLine(stream.ingest.rtmpsUrl ?? stream.ingest.rtmpUrl, key, seconds);
  return (
    <>
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{t('recipes.ffmpegText')}</Text>
        <CopyButton value={line} label={t('recipes.ffmpegCopy')} />
      </Group>
      <pre className="code-line" dir="ltr">
        {isShown ? line : line.replace(key, MASK)}
      </pre>
    </>
  );
}

function ffmpegLine(server: string, key: string, seconds: number): string {
  return [
    'ffmpeg -re -i video.mp4',
    '-c:v libx264 -preset veryfast -pix_fmt yuv420p -b:v 4500k -maxrate 4500k -bufsize 4500k',
    `-force_key_frames "expr:gte(t,n_forced*${seconds})" -sc_threshold 0`,
    '-c:a aac -b:a 160k -ar 48000',
    `-f flv "${server}/${key}"`,
  ].join(' \\\n  ');
}
