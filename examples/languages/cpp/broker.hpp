// Calls of the broker over HTTP with libcurl. Decides only what is an answer: whatever the broker calls an error is thrown, 204
// (nothing to deliver) is null.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

using json = nlohmann::json;

class Broker {
 public:
  explicit Broker(std::string url) : url_(std::move(url)) {}

  json get(const std::string& path) const { return call("GET", path, nullptr); }
  json post(const std::string& path, const json& body) const { return call("POST", path, &body); }
  json remove(const std::string& path) const { return call("DELETE", path, nullptr); }

 private:
  json call(const char* method, const std::string& path, const json* body) const {
    // A handle of its own for each call: two threads may call at once.
    const std::unique_ptr<CURL, void (*)(CURL*)> handle(curl_easy_init(), curl_easy_cleanup);
    if (!handle) throw std::runtime_error("libcurl gave no handle");
    const std::string address = url_ + "/api/v1" + path;
    const std::string sent = body == nullptr ? "" : body->dump();
    const std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(
        curl_slist_append(nullptr, "Content-Type: application/json"), curl_slist_free_all);
    std::string text;
    curl_easy_setopt(handle.get(), CURLOPT_URL, address.c_str());
    curl_easy_setopt(handle.get(), CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(handle.get(), CURLOPT_TIMEOUT, 40L);
    curl_easy_setopt(handle.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &text);
    if (body != nullptr) {
      curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
      curl_easy_setopt(handle.get(), CURLOPT_POSTFIELDS, sent.c_str());
    }
    const CURLcode code = curl_easy_perform(handle.get());
    if (code != CURLE_OK) throw std::runtime_error(path + ": " + curl_easy_strerror(code));
    long status = 0;
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || status >= 300) throw std::runtime_error(path + ": " + std::to_string(status) + " " + text);
    return text.empty() ? json() : json::parse(text);
  }

  static size_t append(const char* bytes, size_t size, size_t count, void* text) {
    static_cast<std::string*>(text)->append(bytes, size * count);
    return size * count;
  }

  std::string url_;
};
