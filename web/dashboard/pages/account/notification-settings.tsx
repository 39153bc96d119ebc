import { Stack, Switch, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { Loaded } from '../../components/loaded.tsx';

const KEY = ['get', '/notifications/preferences'];
const CHANNELS = ['email', 'inApp'] as const;

/** Shows which notifications the user receives, and where. A switch saves when it is toggled. */
export function NotificationSettings() {
  const preferences = $api.useQuery('get', '/notifications/preferences');
  return <Loaded query={preferences}>{({ data }) => <Switches preferences={data} />}</Loaded>;
}

function Switches({ preferences }: { preferences: Shape<'NotificationPreferences'> }) {
  const { t } = useTranslation('account');
  // Optimistic value, reset if the API rejects the change.
  const [shown, setShown] = useState(preferences);
  const { channels, types } = shown;
  const save = $api.useMutation('put', '/notifications/preferences', {
    onSuccess: () => queries.invalidateQueries({ queryKey: KEY }),
    onError: () => setShown(preferences),
  });
  const change = (body: Shape<'NotificationPreferences'>) => {
    setShown(body);
    save.mutate({ body });
  };
  return (
    <Stack>
      <Text>{t('notify.text')}</Text>
      <Table.ScrollContainer minWidth={360}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('notify.about')}</Table.Th>
              {CHANNELS.map((channel) => (
                <Table.Th key={channel}>{t(`notify.${channel}`)}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            <Table.Tr>
              <Table.Td>{t('notify.everything')}</Table.Td>
              {CHANNELS.map((channel) => (
                <Table.Td key={channel}>
                  <Switch
                    aria-label={`${t('notify.everything')}: ${t(`notify.${channel}`)}`}
                    checked={channels[channel]}
                    onChange={({ currentTarget: { checked } }) =>
                      change({ types, channels: { ...channels, [channel]: checked } })
                    }
                  />
                </Table.Td>
              ))}
            </Table.Tr>
            {Object.entries(types).map(([type, wanted]) => (
              <Table.Tr key={type}>
                <Table.Td className="breaks">{type}</Table.Td>
                {CHANNELS.map((channel) => (
                  <Table.Td key={channel}>
                    <Switch
                      aria-label={`${type}: ${t(`notify.${channel}`)}`}
                      checked={wanted[channel]}
                      disabled={!channels[channel]}
                      onChange={({ currentTarget: { checked } }) =>
                        change({ channels, types: { ...types, [type]: { ...wanted, [channel]: checked } } })
                      }
                    />
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}
