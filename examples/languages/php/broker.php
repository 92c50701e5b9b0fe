<?php
// Calls of the broker over HTTP with the curl extension. Decides only what is an answer: whatever the broker calls an error is
// thrown, 204 (nothing to deliver) is an empty array.
declare(strict_types=1);

function prepare(string $url, string $method, string $path, ?array $body): CurlHandle
{
    $handle = curl_init("{$url}/api/v1{$path}");
    curl_setopt_array($handle, [
        CURLOPT_CUSTOMREQUEST => $method,
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 40,
        CURLOPT_HTTPHEADER => $body === null ? [] : ['Content-Type: application/json'],
    ]);
    if ($body !== null) {
        curl_setopt($handle, CURLOPT_POSTFIELDS, json_encode($body, JSON_THROW_ON_ERROR));
    }
    return $handle;
}

function read(CurlHandle $handle, string|false|null $text, string $path): array
{
    if (!is_string($text) || curl_errno($handle) !== 0) {
        throw new RuntimeException("{$path}: " . curl_error($handle));
    }
    $status = curl_getinfo($handle, CURLINFO_RESPONSE_CODE);
    if ($status < 200 || $status >= 300) {
        throw new RuntimeException("{$path}: {$status} {$text}");
    }
    return $text === '' ? [] : json_decode($text, true, 512, JSON_THROW_ON_ERROR);
}

function call(string $url, string $method, string $path, ?array $body = null): array
{
    $handle = prepare($url, $method, $path, $body);
    return read($handle, curl_exec($handle), $path);
}

/** Sends the bodies side by side and waits for all the answers, which come in the order of the bodies. */
function callAtOnce(string $url, string $path, array $bodies): array
{
    $several = curl_multi_init();
    $handles = array_map(fn (array $body) => prepare($url, 'POST', $path, $body), $bodies);
    foreach ($handles as $handle) {
        curl_multi_add_handle($several, $handle);
    }
    do {
        $state = curl_multi_exec($several, $running);
        if ($running > 0) {
            curl_multi_select($several, 1.0);
        }
    } while ($running > 0 && $state === CURLM_OK);
    return array_map(fn (CurlHandle $handle) => read($handle, curl_multi_getcontent($handle), $path), $handles);
}

/** The messages that were delivered, none when there is nothing. */
function pop(string $url, string $queue, array $query): array
{
    return call($url, 'GET', '/pop/queue/' . rawurlencode($queue) . '?' . http_build_query($query))['messages'] ?? [];
}
