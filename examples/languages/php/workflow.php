<?php
// The workflow step in PHP over plain HTTP, with the curl extension: acknowledge the event, move the order from the version that
// was read, push the next event, in one transaction. Checks itself and ends with a status other than 0 on any doubt.
//
//   LOCKSTEP_URL=http://localhost:6632 php workflow.php
declare(strict_types=1);

require __DIR__ . '/broker.php';

const GROUP = 'workflow';
const A_DAY = 86_400;

final class Run
{
    private int $checks = 0;
    private int $readings = 0;
    private string $events;
    private string $shipping;
    private string $first;
    private string $second;

    public function __construct(private string $url)
    {
        // Names of this run's own, so that it says the same when it runs again.
        $run = dechex((int) (microtime(true) * 1_000_000));
        $this->events = "php-order-events-{$run}";
        $this->shipping = "php-shipping-{$run}";
        $this->first = "order-{$run}-1";
        $this->second = "order-{$run}-2";
    }

    public function all(): void
    {
        $paid = $this->oneStep();
        $this->redelivered();
        $this->race();
        $this->oldVersion($paid);
        foreach ([$this->events, $this->shipping] as $queue) {
            call($this->url, 'DELETE', '/resources/queues/' . rawurlencode($queue));
        }
        echo "PASS: {$this->checks} checks\n";
    }

    private function check(bool $holds, string $fact): void
    {
        if (!$holds) {
            throw new RuntimeException("not so: {$fact}");
        }
        $this->checks++;
        echo "  ok: {$fact}\n";
    }

    /** The body of the step itself. The version is the one that the decision was made on. */
    private function step(array $event, int $version, string $shippingId): array
    {
        $orderId = $event['data']['orderId'];
        return [
            'operations' => [
                [
                    'type' => 'ack',
                    'transactionId' => $event['transactionId'],
                    'partitionId' => $event['partitionId'],
                    'leaseId' => $event['leaseId'],
                    'consumerGroup' => GROUP,
                    'status' => 'completed',
                ],
                [
                    'type' => 'push',
                    'items' => [[
                        'queue' => $this->shipping,
                        'partition' => $orderId,
                        'transactionId' => $shippingId,
                        'payload' => ['orderId' => $orderId],
                    ]],
                ],
            ],
            'requiredLeases' => [$event['leaseId']],
            'kv' => [[
                'op' => 'put',
                'ns' => 'orders',
                'key' => $orderId,
                'value' => ['status' => 'shipping'],
                'ttlSeconds' => A_DAY,
                'expect' => $version,
                'required' => true,
            ]],
        ];
    }

    /** Success is false when the order has moved. */
    private function commitStep(array $event, int $version, string $shippingId): array
    {
        return call($this->url, 'POST', '/transaction', $this->step($event, $version, $shippingId));
    }

    private function handle(array $event): string
    {
        $orderId = $event['data']['orderId'];
        $order = $this->readOrder($orderId);
        if ($order['value']['status'] !== 'paid') {
            return $this->ack($event)['success'] ? 'known' : 'refused';
        }
        // The work of the step goes here: charge the card, book the courier.
        $result = $this->commitStep($event, $order['version'], "ship-{$orderId}");
        return $result['success'] ? 'moved' : $result['reason'];
    }

    private function ack(array $event): array
    {
        return call($this->url, 'POST', '/ack', [
            'transactionId' => $event['transactionId'],
            'partitionId' => $event['partitionId'],
            'leaseId' => $event['leaseId'],
            'consumerGroup' => GROUP,
            'status' => 'completed',
        ])[0];
    }

    private function kv(array $operation): array
    {
        $answer = call($this->url, 'POST', '/kv', ['operations' => [$operation]]);
        return $answer['results'][0] ?? throw new RuntimeException('the state did not take the operation');
    }

    private function readOrder(string $orderId): array
    {
        $order = $this->kv(['op' => 'get', 'ns' => 'orders', 'key' => $orderId]);
        return $order['found'] ? $order : throw new RuntimeException("the order {$orderId} is not there");
    }

    private function acceptOrder(string $orderId): int
    {
        return $this->kv([
            'op' => 'put',
            'ns' => 'orders',
            'key' => $orderId,
            'value' => ['status' => 'paid'],
            'ttlSeconds' => A_DAY,
            'expect' => 0,
            'required' => true,
        ])['version'];
    }

    private function publish(string $partition, string $orderId): void
    {
        $item = ['queue' => $this->events, 'partition' => $partition, 'payload' => ['orderId' => $orderId]];
        call($this->url, 'POST', '/push', ['items' => [$item]]);
    }

    private function takeOne(): array
    {
        $popped = pop($this->url, $this->events, [
            'consumerGroup' => GROUP,
            'subscriptionMode' => 'all',
            'batch' => 1,
            'partitions' => 1,
            'wait' => 'true',
            'timeout' => 20_000,
        ]);
        return $popped[0] ?? throw new RuntimeException('an event was expected and none came');
    }

    /** All of them, each time: a group that is new reads the queue from its start and takes nothing from anybody. */
    private function shippingEvents(): array
    {
        $this->readings++;
        return pop($this->url, $this->shipping, [
            'consumerGroup' => "reader-{$this->readings}",
            'subscriptionMode' => 'all',
            'batch' => 100,
            'partitions' => 10,
        ]);
    }

    private function oneStep(): int
    {
        $paid = $this->acceptOrder($this->first);
        $this->publish($this->first, $this->first);
        $this->check($this->handle($this->takeOne()) === 'moved', 'the step moved the order');
        $order = $this->readOrder($this->first);
        $later = $order['value']['status'] === 'shipping' && $order['version'] > $paid;
        $this->check($later, 'the order is shipping, at a later version');
        $ids = array_column($this->shippingEvents(), 'partition', 'transactionId');
        $this->check(array_keys($ids) === ["ship-{$this->first}"], 'one shipping event was pushed');
        $this->check($ids["ship-{$this->first}"] === $this->first, "it is in the order's own partition");
        return $paid;
    }

    private function redelivered(): void
    {
        $before = $this->readOrder($this->first);
        $seek = '/consumer-groups/' . GROUP . "/queues/{$this->events}/seek";
        call($this->url, 'POST', $seek, ['timestamp' => '2000-01-01T00:00:00Z']);
        $this->check($this->handle($this->takeOne()) === 'known', 'the redelivered event was only acknowledged');
        $after = $this->readOrder($this->first);
        $this->check($after['version'] === $before['version'], 'it did not write the order again');
        $this->check(count($this->shippingEvents()) === 1, 'it pushed nothing');
    }

    private function race(): void
    {
        $this->acceptOrder($this->second);
        foreach (['a', 'b'] as $desk) {
            $this->publish("{$this->second}-{$desk}", $this->second);
        }
        $events = [$this->takeOne(), $this->takeOne()];
        // Both have read the order before either commits.
        $version = $this->readOrder($this->second)['version'];
        $steps = array_map(fn (array $event) => $this->step($event, $version, "ship-{$this->second}"), $events);
        $results = callAtOnce($this->url, '/transaction', $steps);
        $won = array_filter($results, fn (array $result) => $result['success']);
        $this->check(count($won) === 1, 'of two workers with the same version one won');
        $lost = isset($won[0]) ? 1 : 0;
        $this->check($results[$lost]['reason'] === 'kv_precondition', 'the other was told that the order had moved');
        $this->check($this->handle($events[$lost]) === 'known', 'its event was still its own to acknowledge');
        $ours = array_filter($this->shippingEvents(), fn (array $event) => $event['data']['orderId'] === $this->second);
        $this->check(count($ours) === 1, 'one shipping event came of the two');
    }

    private function oldVersion(int $paid): void
    {
        $before = $this->readOrder($this->first);
        $this->publish($this->first, $this->first);
        $event = $this->takeOne();
        $result = $this->commitStep($event, $paid, "ship-again-{$this->first}");
        $refused = !$result['success'] && $result['reason'] === 'kv_precondition';
        $this->check($refused, 'the step from the old version was refused');
        $after = $this->readOrder($this->first);
        $same = [$after['value'], $after['version']] === [$before['value'], $before['version']];
        $this->check($same, 'it did not write the order');
        $this->check(count($this->shippingEvents()) === 2, 'it pushed nothing');
        $verdict = $this->ack($event);
        $this->check($verdict['success'] && $verdict['noop'] === false, 'it acknowledged nothing');
    }
}

try {
    (new Run(getenv('LOCKSTEP_URL') ?: 'http://localhost:6632'))->all();
} catch (Throwable $failure) {
    fwrite(STDERR, "FAIL: {$failure->getMessage()}\n");
    exit(1);
}
