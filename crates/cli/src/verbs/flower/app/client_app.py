"""The client of the app, the same at every site."""

from fedspd.flower import client_app

app = client_app()
