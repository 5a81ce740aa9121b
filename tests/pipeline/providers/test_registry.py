import subprocess
import sys
from importlib.metadata import requires

import pytest
from packaging.requirements import Requirement

from pipeline.providers.address import chat_url, check_base_url, is_loopback
from pipeline.providers.registry import (
    PROVIDERS,
    ModelName,
    ProviderExtension,
    build_provider,
    effective_base_url,
    parse_model,
)
from scenarios.errors import UsageError
from scenarios.plugins import PLUGINS, load_plugins


def test_a_models_own_name_may_contain_slashes():
    assert parse_model("compatible/Qwen/Qwen3-32B") == ModelName("compatible", "Qwen/Qwen3-32B")
    assert str(parse_model("openai/gpt-4o")) == "openai/gpt-4o"


@pytest.mark.parametrize("text", ["gpt-4o", "openai/", "/gpt-4o", ""])
def test_a_name_without_provider_or_model_is_refused(text):
    with pytest.raises(UsageError, match="not a model name"):
        parse_model(text)


def test_a_misspelt_provider_brings_its_neighbour():
    with pytest.raises(UsageError, match="did you mean openai/gpt-4o"):
        parse_model("opnai/gpt-4o")


def test_offline_has_only_its_rules():
    with pytest.raises(UsageError, match="offline/rules"):
        parse_model("offline/gpt-4o")


def test_only_the_rules_are_bound_to_a_language():
    assert PROVIDERS.get("offline").languages == {"en"}
    assert PROVIDERS.get("openai").languages is None


@pytest.mark.parametrize(
    ("provider", "variable"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")]
)
def test_a_missing_key_is_named(monkeypatch, provider, variable):
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UsageError, match=variable):
        build_provider(ModelName(provider, "m"))


def test_a_variable_the_user_named_must_be_set(monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(UsageError, match="MY_KEY"):
        build_provider(
            ModelName("compatible", "m"), base_url="http://127.0.0.1:1/v1", api_key_env="MY_KEY"
        )


def test_a_missing_package_brings_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr("pipeline.providers.registry.find_spec", lambda name: None)
    monkeypatch.setattr(ProviderExtension, "release", None)
    with pytest.raises(UsageError, match="pip install anthropic"):
        build_provider(ModelName("anthropic", "m"))


def test_a_package_is_found_by_its_name_for_pip_and_by_that_of_its_module():
    names = ("pyyaml", "yaml", "no-such-package")
    entries = [ProviderExtension(name="mine", build="a:b", package=name) for name in names]
    assert [entry.installed for entry in entries] == [True, True, False]
    assert [entry.release is None for entry in entries] == [False, True, True]


def test_a_provider_whose_name_holds_a_slash_is_refused():
    with pytest.raises(ValueError, match="'in/process', expected one without a slash"):
        ProviderExtension(name="in/process", build="a:b")


def test_a_package_that_is_too_old_brings_the_command_that_renews_it(monkeypatch):
    monkeypatch.setattr("pipeline.providers.registry.version", lambda name: "1.99.2")
    with pytest.raises(
        UsageError, match=r"needs anthropic 2\.0 or newer, found 1\.99\.2"
    ) as caught:
        build_provider(ModelName("anthropic", "m"))
    assert "pip install --upgrade 'anthropic>=2.0'" in caught.value.hint


def test_the_versions_that_are_asked_for_are_those_of_the_installation():
    wanted = {Requirement(line).name: line for line in requires("hipo") or ()}
    for name in PROVIDERS.shipped:
        entry = PROVIDERS.get(name)
        if entry.package:
            assert f">={entry.min_version}" in wanted[entry.package]


def test_a_provider_of_a_plugin_is_one_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setattr(PLUGINS, "files", {})
    path = tmp_path / "mine.py"
    path.write_text(
        "from pipeline.providers.registry import ProviderExtension\n"
        "class Mine:\n"
        "    name, samples_per_request = 'mine', True\n"
        "    def __init__(self, base_url, **given):\n"
        "        self.base_url, self.given = base_url, given\n"
        "    async def send(self, request, timeout_s): ...\n"
        "    async def close(self): ...\n"
        "EXTENSIONS = [ProviderExtension('mine', Mine, default_url='http://127.0.0.1:9/v1')]\n"
    )
    load_plugins([path])
    name = parse_model("mine/model-1")
    provider = build_provider(name, max_concurrency=3)
    assert (provider.name, provider.base_url) == ("mine", "http://127.0.0.1:9/v1")
    assert provider.provider.given == {"api_key": None, "max_concurrency": 3, "headers": {}}
    assert PROVIDERS.identity(["openai", "mine"])["mine"]["origin"] == "mine.py"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("build=lambda: 1", r"TypeError: .*unexpected keyword argument"),
        ("build=lambda **given: object()", r"AttributeError: 'object' object has no attribute"),
        ("build=lambda **given: 1 / 0", r"mine\.py:2: ZeroDivisionError"),
        ("build='nomodule:Thing'", r"ModuleNotFoundError: No module named 'nomodule'"),
    ],
)
def test_a_provider_of_a_plugin_that_cannot_be_built_is_its_authors_to_mend(
    tmp_path, monkeypatch, source, said
):
    monkeypatch.setattr(PLUGINS, "files", {})
    path = tmp_path / "mine.py"
    path.write_text(
        "from pipeline.providers.registry import ProviderExtension\n"
        f"EXTENSIONS = [ProviderExtension('mine', {source})]\n"
    )
    load_plugins([path])
    with pytest.raises(UsageError, match=said) as told:
        build_provider(parse_model("mine/model-1"))
    assert told.value.message.startswith("the provider 'mine' of the plugin mine.py does not work:")


def test_compatible_needs_an_address_and_offline_takes_none():
    with pytest.raises(UsageError, match="--base-url"):
        effective_base_url(ModelName("compatible", "m"), None)
    with pytest.raises(UsageError, match="runs on this machine"):
        effective_base_url(ModelName("offline", "rules"), "http://127.0.0.1")


def test_the_environment_does_not_redirect_requests(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/elsewhere")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    provider = build_provider(ModelName("openai", "m"))
    assert provider.base_url == "https://api.openai.com/v1"
    assert str(provider.client.base_url).startswith("https://api.openai.com/")


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000/v1",
        "ftp://host/v1",
        "file:///etc/passwd",
        "http://",
        "http://[::1",
        "http://host:port",
        "",
        "http://user:pass@host/v1",
        "http://host/v1?key=abc",
        "http://host/v1?api-version=1&key=abc",
        "http://host/v1?api-version=",
        "http://host/v1#x",
    ],
)
def test_an_address_that_is_no_base_url_is_refused(url):
    with pytest.raises(UsageError):
        check_base_url(url)


def test_a_password_in_an_address_is_not_repeated():
    with pytest.raises(UsageError) as caught:
        check_base_url("http://user:hunter2@host/v1")
    assert "hunter2" not in str(caught.value)


def test_a_trailing_slash_makes_no_other_address():
    assert check_base_url(" http://127.0.0.1:8000/v1/ ") == "http://127.0.0.1:8000/v1"


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://[::1]/v1", True),
        ("http://localhost/v1", True),
        ("http://localhost.example.com/v1", False),
        ("https://api.anthropic.com", False),
        (None, False),
    ],
)
def test_only_this_machine_is_loopback(url, local):
    assert is_loopback(url) is local


def test_the_registry_imports_no_provider_package():
    code = (
        "import sys, pipeline.providers.registry;"
        "print(sorted({'openai', 'anthropic', 'aiohttp', 'pydantic', 'yaml', 'orjson'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("given", "base", "asked"),
    [
        ("http://h/v1/chat/completions", "http://h/v1", "http://h/v1/chat/completions"),
        (
            "http://h/d/m/chat/completions?api-version=2024-10-21",
            "http://h/d/m?api-version=2024-10-21",
            "http://h/d/m/chat/completions?api-version=2024-10-21",
        ),
        (
            "http://h/d/m/?api-version=v1",
            "http://h/d/m?api-version=v1",
            "http://h/d/m/chat/completions?api-version=v1",
        ),
    ],
)
def test_an_address_may_name_the_path_that_is_asked_and_the_version_of_the_api(given, base, asked):
    assert effective_base_url(ModelName("compatible", "m"), given) == base
    assert chat_url(base) == asked


def test_a_version_in_the_address_is_for_compatible_models():
    with pytest.raises(UsageError, match="compatible/m"):
        effective_base_url(ModelName("openai", "m"), "http://h/v1?api-version=v1")


def test_a_header_is_named_before_the_variable_of_its_key(monkeypatch):
    monkeypatch.setenv("MY_KEY", "a-key-of-mine")
    url, given = "http://127.0.0.1:1/v1", "x-api-key:MY_KEY"
    provider = build_provider(ModelName("compatible", "m"), base_url=url, api_key_env=given)
    assert "a-key-of-mine" in str(provider.__dict__)
    with pytest.raises(UsageError, match="a header of its own"):
        build_provider(ModelName("openai", "m"), api_key_env=given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("x-api-key:", "no variable is named behind the header x-api-key"),
        ("x-api-key: ", "no variable"),
        ("Content-Length:MY_KEY", "no place for a key"),
    ],
)
def test_a_header_that_no_key_could_be_sent_in_is_refused(monkeypatch, given, says):
    monkeypatch.setenv("MY_KEY", "a-key-of-mine")
    with pytest.raises(UsageError, match=says):
        build_provider(ModelName("compatible", "m"), base_url="http://h/v1", api_key_env=given)


def test_a_space_behind_the_colon_of_a_header_does_no_harm(monkeypatch):
    monkeypatch.setenv("MY_KEY", "a-key-of-mine")
    name, given = ModelName("compatible", "m"), "x-api-key: MY_KEY"
    provider = build_provider(name, base_url="http://h/v1", api_key_env=given)
    assert "a-key-of-mine" in str(provider.__dict__)


def test_a_key_in_the_place_of_header_and_variable_is_not_repeated():
    with pytest.raises(UsageError) as caught:
        build_provider(
            ModelName("compatible", "m"), base_url="http://h/v1", api_key_env="user:hunter2secret"
        )
    assert "hunter2" not in str(caught.value)
