import { Badge, Button, Group, List, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { showError } from '../../app/toasts.ts';
import { type DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Panel } from '../../components/panel.tsx';

type Status = Shape<'ConnectStatus'>;

/** Shows whether payments are enabled, and links to the provider's pages. */
export function ConnectCard() {
  const { t } = useTranslation('monetization');
  const query = $api.useQuery('get', '/monetization/connect-status', {}, { refetchOnWindowFocus: true });
  return (
    <Panel title={t('connect.title')}>
      <Loaded query={query}>{({ data }) => <Account status={data} />}</Loaded>
    </Panel>
  );
}

function Account({ status }: { status: Status }) {
  const { t } = useTranslation('monetization');
  const { provider } = status;
  if (provider === null) return <Text>{t('connect.none')}</Text>;
  if (provider === 'SANDBOX') {
    return (
      <>
        <Group>
          <Badge variant="light" className="whole">
            {t('provider.SANDBOX')}
          </Badge>
        </Group>
        <Text>{t('connect.sandbox')}</Text>
      </>
    );
  }
  return <StripeAccount status={status} />;
}

function StripeAccount({ status }: { status: Status }) {
  const { t } = useTranslation('monetization');
  const { connected, detailsSubmitted, chargesEnabled, requirementsDue } = status;
  const facts = useFacts(status);
  const isComplete = connected && detailsSubmitted && requirementsDue.length === 0;
  return (
    <>
      <Text>{chargesEnabled ? t('connect.ready') : t('connect.notReady')}</Text>
      {connected && <DescriptionList facts={facts} />}
      {requirementsDue.length > 0 && (
        <>
          <Text fw={500}>{t('connect.due')}</Text>
          <List size="sm">
            {requirementsDue.map((name) => (
              <List.Item key={name} className="breaks">
                {name}
              </List.Item>
            ))}
          </List>
        </>
      )}
      <Group>
        {!isComplete && <OnboardButton isNew={!connected} />}
        {connected && <PagesButton />}
      </Group>
    </>
  );
}

function useFacts({ chargesEnabled, payoutsEnabled, country }: Status): DescriptionItem[] {
  const { t } = useTranslation('monetization');
  const word = (yes: boolean) => (yes ? t('connect.yes') : t('connect.no'));
  return [
    { label: t('connect.charges'), value: word(chargesEnabled) },
    { label: t('connect.payouts'), value: word(payoutsEnabled) },
    { label: t('connect.country'), value: country ?? '–' },
  ];
}

/** Creates a link to the provider on click, because the links expire within minutes. */
function OnboardButton({ isNew }: { isNew: boolean }) {
  const { t } = useTranslation('monetization');
  const onboard = $api.useMutation('post', '/monetization/connect-onboard', {
    onSuccess: ({ data: { url } }) => window.location.assign(url),
  });
  return (
    <Button loading={onboard.isPending} onClick={() => onboard.mutate({})}>
      {isNew ? t('connect.begin') : t('connect.complete')}
    </Button>
  );
}

function PagesButton() {
  const { t } = useTranslation('monetization');
  const open = async () => {
    try {
      const { data } = await api.GET('/monetization/connect-dashboard');
      if (data !== undefined) window.location.assign(data.data.url);
    } catch (error) {
      showError(error);
    }
  };
  return (
    <Button variant="default" onClick={() => void open()}>
      {t('connect.pages')}
    </Button>
  );
}
